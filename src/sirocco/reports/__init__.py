"""Result documents: pure functions from values to text."""
