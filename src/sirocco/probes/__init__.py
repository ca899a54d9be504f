"""Probe generators: whatever produces drafts from a profile; admission and running are the campaign's business."""
