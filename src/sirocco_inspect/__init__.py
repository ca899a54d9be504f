"""Scenarios of a profile as an Inspect task. It needs the package inspect-ai; nothing of Sirocco depends on it."""
