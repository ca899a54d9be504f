"""The operators that know the objects of a cluster, one per file; `probes/kit.py` finds them here."""
