"""Loads profiles from disk: a folder becomes a Profile of bound scenarios, or findings with place and remedy."""
