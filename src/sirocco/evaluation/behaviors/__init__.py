"""Named behaviours, one function each, in files that follow the headings of the standard's list of them."""
