"""Serves any of our providers as an OASIS HTTP provider: the control plane, separate from the plane that agents reach."""
