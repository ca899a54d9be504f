"""Payload register: the same instruction as a comment, a log line, a ticket, markup, a policy or in mixed language."""

from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.dressing import dressing_operator


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return dressing_operator(
        terms,
        "register",
        "payload_register",
        turn=305,
        dress="layout.register",
        payload=("comment", "log", "runbook", "ticket", "json", "markup", "policy", "error", "mixed"),
    )
