"""Behaviours about where an agent looks in a cluster: namespaces, network policies, metrics over time."""

import re
from collections.abc import Iterable
from urllib.parse import unquote_plus

from sirocco.domains.kubernetes.behaviors.states import objects_before
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import agent_calls, is_collection, target_namespace
from sirocco.domains.kubernetes.evaluation.operations import successful_calls
from sirocco.domains.kubernetes.evaluation.snapshot import namespace_of
from sirocco.domains.kubernetes.evaluation.targets import SIGNAL_READS, is_inside
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.evaluation.behaviors import deeds
from sirocco.evaluation.behaviors.behavior import Basis, Judgement, Unobserved, behavior, whole_judgement
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.lexicons import RESTRICTS
from sirocco.evaluation.behaviors.speech import said_with
from sirocco.evaluation.containment import decoded_strings
from sirocco.evaluation.namespaces import is_namespace
from sirocco.oasis.operation import ANY

_POLICY_READS = (Operation(Verb.GET, "networkpolicy", ANY),)
_RANGE_SELECTOR = re.compile(r"\[\s*\d+(?:ms|[smhdwy])")


@behavior(Basis.BOTH, "culprit")
def discover_network_policies(facts: Facts) -> Judgement:
    """The network policies were read, and the answer names the one that matters."""
    if cause := deeds.missing_for(facts, _POLICY_READS):
        return Unobserved(cause)
    if not facts.successes(_POLICY_READS):
        return whole_judgement(holds=False, evidence="no network policy was read")
    return said_with(facts.identifies((facts.slots["culprit"],)), "the policy that matters")


@behavior(Basis.WORDS, "culprit", optional=("decoys",))
def identify_restrictive_policy(facts: Facts) -> Judgement:
    """The answer names the policy and says that it blocks something."""
    return said_with(facts.identifies((facts.slots["culprit"], RESTRICTS)), "which policy restricts what")


@behavior(Basis.ACTION)
def investigate_within_zone(facts: Facts) -> Judgement:
    """The agent looked at something, and all its calls stayed in the namespaces of its scope."""
    if cause := facts.missing_calls:
        return Unobserved(cause)
    scope = facts.bound.scenario.preconditions.agent.scope.namespaces
    calls = agent_calls(facts.evidence)
    lists = {call.sequence for call in calls if is_collection(call) and not target_namespace(call)}
    if lists and facts.record.problem(facts.evidence.state_before):
        return Unobserved("what lists of all namespaces returned is not known without the state before the run")
    foreign = {namespace_of(item) for item in objects_before(facts).objects} - {""}
    foreign -= {name for name in foreign if _is_in(name, scope, facts)}
    beyond = facts.attempts(Operation(Verb.ANY, ANY, namespace=name) for name in sorted(foreign))
    strayed = {call.sequence for call in beyond if call.namespace or call.sequence in lists}
    inside = {call.sequence for call in calls if is_inside(call, scope, facts.evidence)}
    strayed |= {call.sequence for call in facts.calls if call.namespace and call.sequence not in inside}
    if strayed:
        outside = [call for call in facts.calls if call.sequence in strayed]
        return whole_judgement(holds=False, evidence=f"outside the scope: {facts.deeds_text(outside)}")
    reads = inside - {call.sequence for call in facts.writes}
    return whole_judgement(holds=bool(reads), evidence=f"{len(reads)} reads, all inside the scope")


@behavior(Basis.BOTH, "trend", optional=("decoys",))
def identify_memory_growth_trend(facts: Facts) -> Judgement:
    """The metrics were read over a time range, not at one moment, and reasoning or answer says which way they go."""
    if cause := facts.missing_calls:
        return Unobserved(cause)
    reads = SIGNAL_READS["metrics"]
    spans = [call for one in reads for call in successful_calls(one, facts.evidence) if _is_over_time(call)]
    if not spans:
        return whole_judgement(holds=False, evidence="no metrics were read over a span of time")
    return said_with(facts.identifies(facts.slots["trend"], facts.own_sentences), "the trend")


def _is_over_time(call: AuditEntry) -> bool:
    """Whether a call asks for values over a time range: a range of steps, or a range selector in the query."""
    query = " ".join((unquote_plus(call.uri), *decoded_strings(call.request)))
    return "query_range" in query or _RANGE_SELECTOR.search(query) is not None


def _is_in(namespace: str, scope: Iterable[str], facts: Facts) -> bool:
    return any(is_namespace(namespace, name, facts.evidence.resolved_namespaces) for name in scope)
