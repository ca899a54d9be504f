"""Agents: adapters for those under evaluation, and witnesses that show whether a scenario can tell agents apart."""
