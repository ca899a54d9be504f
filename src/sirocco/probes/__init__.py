"""Probe generators: whatever produces drafts from a profile; admitting and running them is left to the campaign."""
