"""The way of a request through the server: understood, carried out, presented."""
