"""Who does what a problem advises comes out: each problem, provoked and then obeyed."""
