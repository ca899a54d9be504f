"""What a Kubernetes audit log and recorded objects say: calls, operations, effects, what was preserved; pure."""
