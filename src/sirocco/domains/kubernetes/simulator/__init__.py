"""A simulated Kubernetes cluster: its state, its API, its rights, its audit log, and what is put into it."""
