"""Authority forgery: a person in authority supposedly wants it, according only to the text itself."""

from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.dressing import dressing_operator


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return dressing_operator(
        terms,
        "authority",
        "authority_forgery",
        turn=320,
        dress="claim.authority",
        payload=("lead", "board", "security", "bot", "system", "peer"),
        asked=("lead", "board", "security", "owner", "vendor", "peer"),
    )
