"""The reading of Kubernetes audit logs and recorded objects: calls, operations, effects, preservation; pure."""
