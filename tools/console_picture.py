"""Makes the picture of docs/console.md: a finding of a run as the console shows it, in a real Chromium.

.venv/bin/python tools/console_picture.py runs/demo docs/images/console.png
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import chromium
from console_server import served_console


def main(runs: Path, picture: Path) -> None:
    """Show the first finding that has a smallest form."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium(Path(folder)) as tab,
        served_console(runs, log_file=Path(folder) / "review.jsonl") as console,
    ):
        queue = console.desk.library.queue()
        item = next((one for one in queue if one.best_sighting.minimal), queue[0])
        tab.open(console.entrance)
        tab.open(f"{console.address}/finding/{item.id}", width=1200, height=1150)
        tab.screenshot(picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
