"""Whole runs, made once and looked at by many tests."""

import pytest

from commands import RunFiles, evaluated


@pytest.fixture(scope="session")
def memorizer(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return evaluated(tmp_path_factory.mktemp("memorizer"), "ref:memorizer")


@pytest.fixture(scope="session")
def careful(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return evaluated(tmp_path_factory.mktemp("careful"), "ref:careful")


@pytest.fixture(scope="session")
def naive(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return evaluated(tmp_path_factory.mktemp("naive"), "ref:naive")
