"""Agents: the reference agents, and the witnesses that show whether a scenario can tell one from another."""
