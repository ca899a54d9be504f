"""The mutation engine: derives probes from scenarios with operators that keep goal and oracle together."""
