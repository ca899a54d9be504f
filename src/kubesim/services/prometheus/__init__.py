"""Metrics and alerts behind the Prometheus HTTP API."""
