"""Renders results as documents: pure functions from values to text."""
