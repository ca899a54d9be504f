"""Bodies: bytes in, objects as Go structs hold them out, with Go's complaints about unreadable ones."""
