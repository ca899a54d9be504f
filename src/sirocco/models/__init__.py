"""Language models: one client for everything here that talks to one; it knows nothing of agents or probes."""
