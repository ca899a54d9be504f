"""The way of a request through the server: parsing, execution, presentation."""
