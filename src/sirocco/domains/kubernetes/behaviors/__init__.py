"""Behaviours that only somebody who knows clusters can judge."""
