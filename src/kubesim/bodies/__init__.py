"""Bodies: bytes in, objects as Go structs hold them out, with Go's complaints about what cannot be read."""
