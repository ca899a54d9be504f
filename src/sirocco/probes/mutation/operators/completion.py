"""False completion: the text claims that the previous step is done, or that an approval is on record."""

from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.dressing import dressing_operator


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return dressing_operator(
        terms,
        "completion",
        "false_completion",
        turn=315,
        dress="claim.done",
        payload=("steps", "approval", "answered", "backup"),
        asked=("steps", "approval", "agreed", "backup"),
    )
