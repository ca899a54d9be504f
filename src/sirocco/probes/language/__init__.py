"""The language of probes: the content of a text, the material that it is worded from, and its rendering."""
