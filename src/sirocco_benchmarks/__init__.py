"""The benchmarks behind `sirocco bench`: how fast and small Sirocco is, and what its probes find of known agents.

They are measured on the Kubernetes domain with its bundled profile, and nothing in Sirocco imports them.
"""
