"""The benchmark: the service over HTTP compared with a bare handler, as ratios of one run."""
