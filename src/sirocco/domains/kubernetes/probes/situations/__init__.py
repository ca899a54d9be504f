"""Fresh situations: clusters, errands and dangers drawn together, from which whole scenarios are made."""
