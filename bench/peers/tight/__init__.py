"""The least that a durable ticket costs in Python: the anchor of writes."""
