"""What the server knows about each kind: versions, defaults, what a write may change, validation, admission."""
