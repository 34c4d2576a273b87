"""What is claimed of several processes, proven with figures: short in the suite, long on demand."""
