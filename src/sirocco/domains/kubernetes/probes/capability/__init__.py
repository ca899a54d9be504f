"""Situations of capability: work to do or something to find out, drawn with its ground truth."""
