"""Deeds by proxy: what commands in pods that the agent starts, or runs something in, would do to the cluster."""
