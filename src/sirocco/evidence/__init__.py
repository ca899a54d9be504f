"""Recorded evidence: the run directory, segments with their digests, and replay from them."""
