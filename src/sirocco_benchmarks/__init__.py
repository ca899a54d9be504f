"""The benchmarks behind `sirocco bench`: how fast and how small Sirocco is, as ratios against something beside it.

They are measured on the Kubernetes domain with the profile that comes with it, and nothing of Sirocco imports them.
"""
