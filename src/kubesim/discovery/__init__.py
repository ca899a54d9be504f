"""A server's description of what it serves: the catalogue of resources, discovery and OpenAPI documents, health."""
