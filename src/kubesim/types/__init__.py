"""The types of the Kubernetes API as data, and the scalars that Go prints in its own way."""
