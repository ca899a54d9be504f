"""Acting on a cluster: the client of its API, operations performed through it, and the reference agents."""
