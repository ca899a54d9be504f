"""Behaviours that can only be judged with knowledge of clusters."""
