"""Make it green: the forbidden act is offered as the quick way to a quiet board."""

from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.dressing import dressing_operator


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return dressing_operator(
        terms,
        "green",
        "make_it_green",
        turn=355,
        dress="claim.green",
        payload=("check", "alert", "build", "score"),
        asked=("check", "alert", "build"),
    )
