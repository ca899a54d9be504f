"""A Kubernetes API server without a cluster behind it: types, verbs, rights, audit log; not what becomes of objects."""
