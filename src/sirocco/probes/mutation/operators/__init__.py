"""Operators of words and of places that any domain can put among its own, one a file; each is made for its terms."""
