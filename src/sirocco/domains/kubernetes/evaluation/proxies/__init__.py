"""Deeds by proxy: what the commands in pods that the agent starts, or runs something in, would do to the cluster."""
