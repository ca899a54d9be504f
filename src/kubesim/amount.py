"""Amounts of resources as the Kubernetes API writes them (256Mi, 500m, 2, 1e3), as plain numbers to compare."""

import re

_AMOUNT = re.compile(r"(?P<number>\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?P<unit>[A-Za-z]{0,2}|[eE][+-]?\d{1,2})")
_FACTORS = {
    "": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
}  # fmt: skip


def amount_of(text: str) -> float:
    """An amount as a number; 0 for what is none."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return 0.0
    unit = found["unit"]
    factor = _FACTORS.get(unit)
    if factor is None:
        factor = float(f"1{unit}") if len(unit) > 1 and unit[0] in "eE" and unit[1:].strip("+-").isdecimal() else 0.0
    return float(found["number"]) * factor
