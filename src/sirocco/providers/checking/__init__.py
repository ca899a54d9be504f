"""Conformance and self-tests for any OASIS provider: what it declares, and whether it does what it declares."""
