"""Reading scenarios about clusters: what preconditions declare, and the closed grammar of their prose."""
