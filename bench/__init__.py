"""The benchmark: the real server over HTTP beside a bare handler, as ratios of one run."""
