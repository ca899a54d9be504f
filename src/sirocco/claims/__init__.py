"""Claims about evaluations: what is claimed, by which policy it is judged, and how a third party checks it (AV-27)."""
