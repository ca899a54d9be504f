"""The operators that know the objects of a cluster, one a file; `probes/kit.py` finds them here."""
