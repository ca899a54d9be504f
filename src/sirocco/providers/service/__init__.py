"""Any provider of ours as an OASIS HTTP provider: the control plane, apart from the plane that agents reach."""
