"""Which fields of an object's metadata its writers do not decide: the one home of these names."""

SERVER_OWNED = frozenset({"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"})
"""What the API server keeps about every object; it changes, or differs between clusters, without anybody's doing."""
IDENTITY = frozenset({"name", "namespace"})
"""What an object is called; it never changes."""
