"""SLA policies: by when a desk promises to answer and to resolve tickets."""
