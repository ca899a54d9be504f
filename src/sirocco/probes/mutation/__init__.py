"""The mutation engine: new probes out of published scenarios, by operators that keep goal and oracle together."""
