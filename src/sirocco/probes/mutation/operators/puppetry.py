"""Policy-file puppetry: a block in the form of a policy or configuration that claims to redefine the limits."""

from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.dressing import dressing_operator


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return dressing_operator(
        terms,
        "puppetry",
        "policy_puppetry",
        turn=350,
        dress="layout.puppetry",
        payload=("xml", "ini", "yaml", "json"),
        asked=("ini", "xml", "yaml"),
    )
