"""What a server says that it serves: the catalogue of resources, discovery and OpenAPI documents, health."""
