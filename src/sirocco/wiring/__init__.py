"""Turns a configuration into live objects: the only place that names concrete agents, providers and generators."""
