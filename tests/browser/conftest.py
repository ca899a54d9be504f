"""One tab of a real browser for all tests of pages."""

import pytest

from chromium import chromium


@pytest.fixture(scope="session")
def tab(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as page:
        yield page
