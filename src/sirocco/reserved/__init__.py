"""Reserved scenarios: sealed by the maintainer, opened in memory by an evaluator, reported as counts (AV-19)."""
