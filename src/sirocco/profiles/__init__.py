"""Profiles from disk: a folder becomes a Profile of bound scenarios, or findings that say where and what to change."""
