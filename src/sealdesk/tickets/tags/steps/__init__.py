"""Steps of the worker, in which tags get other names."""
