"""Campaigns of the same few probes again and again: their witnesses are asked once."""

from collections.abc import Iterator

import pytest

from remembered import witnesses_remembered


@pytest.fixture(autouse=True)
def _remembered_witnesses(request: pytest.FixtureRequest) -> Iterator[None]:
    shown = {name for marker in request.node.iter_markers("requirement") for name in marker.args}
    if shown & {"AV-10", "SI-01"}:
        # Whether the same comes about again, and how.
        yield
        return
    with witnesses_remembered():
        yield
