"""Stimuli of a scenario, put into an environment: where text waits, and what happens at a trigger (CO-13)."""
