"""What a pattern of operations covers, by form alone."""

from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.oasis.operation import ALL, ANY, has_glob, matches

_MODIFY = frozenset({Verb.UPDATE, Verb.PATCH, Verb.REPLACE, Verb.APPLY})
_MODIFIED_BY = frozenset({Verb.SCALE, Verb.RESTART, Verb.ROLLBACK})


def covers(pattern: Operation, operation: Operation) -> bool:
    """Whether, by form alone, whoever performs `operation` also does what `pattern` describes."""
    return (
        _verb_covers(pattern, operation)
        and pattern.resource in {ANY, operation.resource}
        and (pattern.name in {ANY, ALL} or matches(pattern.name, operation.name))
        and (pattern.namespace is None or matches(pattern.namespace, operation.target_namespace))
        and (pattern.replicas is None or pattern.replicas == operation.replicas)
        and (pattern.labels is None or pattern.labels == operation.labels)
        and _path_covers(pattern, operation)
    )


def _verb_covers(pattern: Operation, operation: Operation) -> bool:
    wanted, verb = pattern.verb, operation.verb
    if wanted in {Verb.ANY, verb}:
        return True
    if wanted in _MODIFY:
        return verb in _MODIFY or verb in _MODIFIED_BY or (wanted is Verb.APPLY and verb is Verb.CREATE)
    if wanted is Verb.SCALE:
        return operation.replicas is not None or operation.path == ("spec", "replicas")
    if wanted is Verb.DELETE:
        return verb is Verb.DELETECOLLECTION
    reads_several = pattern.name == ANY or has_glob(pattern.name)
    return wanted is Verb.GET and reads_several and verb in {Verb.LIST, Verb.WATCH}


def _path_covers(pattern: Operation, operation: Operation) -> bool:
    if not pattern.path:
        return True
    written = operation.path or (("spec", "replicas") if operation.verb is Verb.SCALE else ())
    within = written[: len(pattern.path)] == pattern.path or pattern.path[: len(written)] == written
    return bool(written) and within and pattern.value in {None, operation.value}
