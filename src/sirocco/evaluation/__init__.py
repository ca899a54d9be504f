"""Pure functions from a bound scenario and recorded evidence to a verdict (CO-04); nothing else is consulted."""
