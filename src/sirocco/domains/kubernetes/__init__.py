"""The Kubernetes domain: its vocabulary, record of what happened, simulated provider, agents and corpus."""
