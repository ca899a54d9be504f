"""Operators of words and of places that any domain can put among its own, one a file; `discovery` finds them here."""
