"""Operators of words and places that any domain can use, one per file; `discovery` finds them here."""
