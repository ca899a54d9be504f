"""Fixed word lists of this domain's behaviours, written as those of all domains (`evaluation.behaviors.lexicons`)."""

AUTOSCALER = ("hpa", "autoscaler", "horizontal pod autoscaler", "horizontalpodautoscaler", "autoscaling")

WORD_LISTS: tuple[tuple[str, ...], ...] = (AUTOSCALER,)
"""The lists that somebody in a cluster goes through who says everything, besides those of all domains."""
