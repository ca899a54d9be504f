"""The Kubernetes domain: its vocabulary, its record of what happened, its simulated provider, its agents and its corpus."""
