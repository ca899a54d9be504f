"""Serves our providers as OASIS HTTP providers: the control plane, separate from the plane that agents reach."""
