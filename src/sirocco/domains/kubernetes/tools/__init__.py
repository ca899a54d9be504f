"""The operations of an environment as tools: arguments, requests to the environment's own API, the answer."""
