"""Events as the core group and as events.k8s.io write them; the hub is core's form."""

from kubesim.status import Json

_CORE_NAMES = {
    "regarding": "involvedObject", "note": "message", "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp", "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count", "reportingController": "reportingComponent",
}  # fmt: skip
_GROUP_NAMES = {core: name for name, core in _CORE_NAMES.items()}
_ALWAYS_IN_CORE: Json = {
    "involvedObject": {}, "source": {}, "firstTimestamp": None, "lastTimestamp": None, "eventTime": None,
    "reportingComponent": "", "reportingInstance": "",
}  # fmt: skip
_ALWAYS_IN_GROUP: Json = {
    "regarding": {}, "deprecatedSource": {}, "deprecatedFirstTimestamp": None, "deprecatedLastTimestamp": None,
    "eventTime": None,
}  # fmt: skip


def to_hub(event: Json, given: str) -> Json:
    """The event in core's form."""
    if given == "v1":
        return event
    return {**_ALWAYS_IN_CORE, **{_CORE_NAMES.get(name, name): value for name, value in event.items()}}


def from_hub(event: Json, wanted: str) -> Json:
    """The event in the form of the version `wanted`."""
    if wanted == "v1":
        return event
    named = {_GROUP_NAMES.get(name, name): value for name, value in event.items() if value not in ("", 0)}
    return {**_ALWAYS_IN_GROUP, **named}
