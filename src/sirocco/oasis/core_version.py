"""The versions of the core standard that are implemented, for evaluators and providers alike (CO-01)."""

CORE_VERSIONS = tuple(f"1.0.0-rc1.{number}" for number in range(5, 13))
"""From the first to the latest; what later ones added is optional in documents of earlier ones."""
