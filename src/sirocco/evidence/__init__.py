"""Keeps what was recorded: the run directory, evidence segments with their digests, and replay from them."""
