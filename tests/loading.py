"""Loads profiles and scenarios for tests, with the installed domains or with the Kubernetes domain."""

from functools import partial

from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.profiles import bind as binding
from sirocco.profiles import load
from sirocco.wiring.domains import domain_for

load_profile = partial(load.load_profile, domains=domain_for)


def bind(scenario, overlay=None, bands=None, preserves=()):
    return binding.bind(scenario, KUBERNETES, overlay, bands, preserves)


def binding_of(scenario, overlay=None, bands=None, preserves=()):
    return binding.binding_of(scenario, KUBERNETES, overlay, bands, preserves)
