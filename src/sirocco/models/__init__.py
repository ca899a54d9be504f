"""Language models: one client for every use here; it knows nothing of agents or probes."""
