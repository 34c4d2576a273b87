"""Steps of the worker, in which customers are erased."""
