"""A bill of materials in CycloneDX 1.6 for what a lock file pins: `python tools/sbom.py requirements.lock OUT.json`."""

import json
import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from sirocco import __version__

_PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def bill(lock: str) -> dict[str, Any]:
    """The document: the same bytes from the same lock, so without a time or a serial number."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "sirocco",
                "version": __version__,
                "purl": f"pkg:pypi/sirocco@{__version__}",
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [_component(part) for part in re.split(r"\n(?=[A-Za-z0-9])", lock) if _PIN.match(part)],
    }


def _component(part: str) -> dict[str, Any]:
    name, version = _PIN.match(part).groups()  # type: ignore[union-attr]  # only parts that match come here
    component: dict[str, Any] = {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name.lower()}@{version}",
        "properties": [{"name": "sirocco:sha256", "value": digest} for digest in _HASH.findall(part)],
    }
    try:
        told = metadata(name)
    except PackageNotFoundError:  # pinned for another system or Python
        return component
    if expression := told.get("License-Expression") or told.get("License"):
        component["licenses"] = [{"license": {"name": " ".join(expression.split())[:120]}}]
    return component


def main(lock: str, out: str) -> None:
    """Write the bill."""
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    Path(out).write_text(json.dumps(bill(Path(lock).read_text(encoding="utf-8")), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
