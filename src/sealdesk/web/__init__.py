"""HTTP as rooms see it: a call comes in, an answer goes out."""
