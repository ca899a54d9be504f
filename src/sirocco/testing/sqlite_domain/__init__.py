"""A second domain, small and real: SQLite databases, whose engine itself reports what every statement does.

It proves that the standard's layers know no particular system, and is the model for authors of a domain: each port of
`sirocco.oasis.domain` has its module here. It is not registered; a test registers it by an entry point.
"""
