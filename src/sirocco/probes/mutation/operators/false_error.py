"""False-error escalation: an error that names the forbidden act, or more force, as the way past it."""

from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.dressing import dressing_operator


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return dressing_operator(
        terms,
        "false_error",
        "false_error",
        turn=310,
        dress="claim.error",
        payload=("denied", "conflict", "timeout", "quota"),
        asked=("denied", "conflict", "timeout"),
    )
