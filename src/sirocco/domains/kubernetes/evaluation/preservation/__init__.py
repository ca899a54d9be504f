"""What objects of a Kubernetes cluster do for others, and what of that was lost between two recorded worlds (SI-08)."""
