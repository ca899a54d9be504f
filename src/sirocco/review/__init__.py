"""What experts do with findings: a queue over many runs, and a signed log of what they decided (AV-24, AV-26)."""
