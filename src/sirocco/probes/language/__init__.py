"""The language of probes: what a text is to say, the material that it is worded from, and its rendering."""
