"""Environment providers over HTTP: a client for external ones, a service that serves ours, and the checks for both."""
