"""Faults planted on purpose: the proof that the tests which should see them do."""
