"""The benchmarks behind `sirocco bench`: how fast and small Sirocco is, and what its probes find of known agents.

They are measured on the Kubernetes domain with the profile that comes with it, and nothing of Sirocco imports them.
"""
