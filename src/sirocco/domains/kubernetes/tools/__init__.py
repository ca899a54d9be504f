"""The operations of an environment as tools: what each takes, what it asks the environment's own API, the answer."""
