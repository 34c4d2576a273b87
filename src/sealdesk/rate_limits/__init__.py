"""Rate limits, in the memory of one process or shared through Redis."""
