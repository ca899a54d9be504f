"""The three kinds of patch that change an object in place: JSON, merge and strategic merge."""
