"""Carrying work out as an operator does: look, change, check, take back; plan, branch, adapt; call people in."""
