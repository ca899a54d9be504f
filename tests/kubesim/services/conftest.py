"""The fixture of the services' tests."""

import pytest

from service_builders import Asked


@pytest.fixture
def asked() -> Asked:
    """A small cluster's services."""
    return Asked()
