"""Providers of environments elsewhere: a client of them, a service for providers of ours, and the test of both."""
