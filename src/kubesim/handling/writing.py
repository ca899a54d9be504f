"""Creating, updating and patching objects: from the body to the store by the steps of the real server."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from kubesim.access import Attributes, decide, require_no_escalation
from kubesim.access import refusal as access_refusal
from kubesim.bodies.decoding import decode_body, unknown_fields
from kubesim.bodies.go_text import go_quote
from kubesim.discovery.catalogue import Resource, own_manager
from kubesim.fields import apply_configuration, configuration, custom_type, marked_as_unowned, update_owners
from kubesim.fields.creation import ESTABLISHED_SINCE
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.options import (
    WriteOptions,
    mapping,
    require_object_type,
    require_patch_type,
    require_size,
    require_uid,
    require_version,
    write_options,
)
from kubesim.handling.plain_bodies import as_data, yaml_data
from kubesim.handling.presentation import form, object_response
from kubesim.kinds.admission import admit_object, allocate_addresses, charged_quotas
from kubesim.kinds.conversion import convert_object
from kubesim.kinds.defaults import fill_defaults
from kubesim.kinds.strategy import prepared_for_create, prepared_for_update
from kubesim.kinds.validation import creation_causes, group_in_refusals, update_causes
from kubesim.patching.patches import APPLY_PATCH, apply_patch
from kubesim.resource import noun_of
from kubesim.status import (
    ApiError,
    Json,
    already_exists,
    bad_request,
    conflict,
    internal_error,
    invalid,
    namespace_terminating,
    not_found,
)
from kubesim.store import is_being_deleted
from kubesim.surroundings import Approach
from kubesim.types.definitions import Type

CREATABLE_BY_UPDATE = frozenset(
    {"rolebinding", "clusterrolebinding", "role", "clusterrole", "lease", "limitrange", "event", "endpoints",
     noun_of("runtimeclasses.node.k8s.io")}
)  # fmt: skip
_VERSION_REQUIRED = frozenset(
    map(noun_of, ("pdb", "lease", "customresourcedefinitions.apiextensions.k8s.io", "runtimeclasses.node.k8s.io",
                  "csidrivers.storage.k8s.io", "csinodes.storage.k8s.io", "volumeattachments.storage.k8s.io"))
)  # fmt: skip
_STRICT_SINCE = 25
_MARKS_FORGOTTEN_SINCE = 34
"""The first release known to clear at once a deletion mark that a new object carries."""
_MARKS = frozenset({"deletionTimestamp", "deletionGracePeriodSeconds"})
_STATUS_RESET_SINCE = 21
_SERVICES_UNCONDITIONAL_SINCE = 23
_IGNORED = ("selfLink", "clusterName")
WEBHOOK = "validation.policies.svc"
_OTHER_NAMESPACE = "the namespace of the provided object does not match the namespace sent on the request"


def create(exchange: Exchange) -> Response:
    """Answer a POST to a collection."""
    form(exchange)
    require_object_type(exchange.request)
    require_size(exchange.request)
    options = write_options(exchange.request, "CreateOptions", exchange.catalogue.minor)
    obj = read_object(exchange, options)
    exchange.record(obj)
    obj = _without_duplicates(exchange, obj)
    if exchange.catalogue.minor >= _MARKS_FORGOTTEN_SINCE:
        obj = {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key not in _MARKS}}
    obj = with_fields(exchange, None, obj, options)
    return object_response(exchange, create_object(exchange, obj, options, by_update=False), 201)


def update(exchange: Exchange, subresource: str = "") -> Response:
    """Answer a PUT of a whole object, or of one that is written through a subresource."""
    form(exchange)
    require_size(exchange.request)
    options = write_options(exchange.request, "UpdateOptions", exchange.catalogue.minor)
    require_object_type(exchange.request)
    obj = read_object(exchange, options)
    exchange.record(obj)
    require_name(exchange, obj)
    obj = _without_duplicates(exchange, obj)
    row, metadata, old = exchange.row, obj["metadata"], exchange.stored_object()
    if old is None and row.noun == "service":
        raise not_found(row, exchange.call.name)
    known = old["metadata"]["uid"] if old else ""
    require_uid(row, exchange.place, exchange.call.name, str(metadata.get("uid") or ""), known)
    if old is None:
        if subresource or row.noun not in CREATABLE_BY_UPDATE:
            raise not_found(row, exchange.call.name)
        return _create_by_update(exchange, with_fields(exchange, None, obj, options), options)
    old = convert_object(old, row)
    obj = with_fields(exchange, old, obj, options, subresource)
    return object_response(exchange, update_object(exchange, old, obj, options, subresource))


def patch(exchange: Exchange, subresource: str = "") -> Response:
    """Answer a PATCH of any of the four kinds."""
    require_patch_type(exchange.request, custom=exchange.row.custom is not None)
    form(exchange)
    require_size(exchange.request)
    options = write_options(exchange.request, "PatchOptions", exchange.catalogue.minor)
    exchange.recorded = recorded_patch(exchange.request.sent_body)
    row, stored = exchange.row, exchange.stored_object()
    is_apply = exchange.request.content_type == APPLY_PATCH
    if stored is None and (not is_apply or subresource):
        raise not_found(row, exchange.call.name)
    old = None if stored is None else convert_object(stored, row)
    if is_apply:
        new = _apply_sent(exchange, old, options, subresource)
    elif old is not None:
        new = with_fields(exchange, old, patched_object(exchange, old), options, subresource)
    if old is None:
        if new["metadata"].get("uid"):
            uid = new["metadata"]["uid"]
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise conflict(row, exchange.call.name, why)
        require_name(exchange, new)
        return _create_by_update(exchange, new, options)
    require_name(exchange, new)
    return object_response(exchange, update_object(exchange, old, new, options, subresource))


def read_object(exchange: Exchange, options: WriteOptions, row: Resource | None = None) -> Json:
    """The object in the body with its defaults; raise 400 when it cannot be read as one of the type."""
    request, row = exchange.request, row or exchange.row
    obj = decode_body(row, request.sent_body, request.content_type, exchange.types)
    if exchange.catalogue.minor >= _STRICT_SINCE and options.strictness != "Ignore":
        _check_fields(exchange, options, row)
    return fill_defaults(row, obj)


def _check_fields(exchange: Exchange, options: WriteOptions, row: Resource) -> None:
    """Refuse fields that the type does not have, or warn about them."""
    raw = recorded_patch(exchange.request.sent_body)
    unknown = unknown_fields(exchange.types.of_kind(row.group, row.version, row.kind), raw)
    if not unknown:
        return
    texts = [f'unknown field "{path}"' for path in unknown]
    if options.strictness == "Strict":
        listed = ", ".join(texts)
        raise bad_request(
            f'{row.kind} in version "{row.version}" cannot be handled as a {row.kind}: strict decoding error: {listed}'
        )
    exchange.warnings += texts


def recorded_patch(sent: Any) -> Any:
    """A body as the audit log shows it: data if it is JSON or YAML, or else its text.

    Nothing sent may stay unseen, and data holds no comments: YAML that may have one stays text.
    """
    data = None if sent in (None, b"", "") else as_data(sent)
    if not isinstance(data, bytes):
        return data
    held = None if b"#" in data else yaml_data(data)
    return held if isinstance(held, dict | list) else data.decode(errors="replace")


_TELLING = 4
"""The shortest text worth recording; the server leaves out many an empty one."""


def text_beyond(sent: Any, recorded: Any) -> str:
    """The text of a body that says more than its recorded data (comments, unknown fields, repeated keys), or empty."""
    if not sent or isinstance(recorded, str):
        return ""
    content = sent if isinstance(sent, bytes) else json.dumps(sent, ensure_ascii=False).encode()
    try:
        held = json.loads(content, object_pairs_hook=lambda pairs: [part for pair in pairs for part in pair])
    except (ValueError, RecursionError):
        held = recorded_patch(content)
    beyond = _texts(held) - _texts(recorded)
    return content.decode(errors="replace") if any(len(text) >= _TELLING for text in beyond) else ""


def _texts(held: Any) -> set[str]:
    found, waiting = set(), [held]
    for one in waiting:
        if isinstance(one, str):
            found.add(one)
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
    return found


def patched_object(exchange: Exchange, old: Json) -> Json:
    """`old` after the patch in the body, read like a new body."""
    request = exchange.request
    return fill_defaults(exchange.row, apply_patch(request.content_type, old, request.sent_body, exchange.type))


def _apply_sent(exchange: Exchange, old: Json | None, options: WriteOptions, subresource: str) -> Json:
    row, sent = exchange.row, configuration(exchange.request.sent_body)
    if not subresource and row.subresource("status") and exchange.catalogue.minor >= _STATUS_RESET_SINCE:
        # Nobody comes to own, by applying it here, what the main resource resets.
        sent = {key: value for key, value in sent.items() if key != "status"}
    merged = apply_configuration(
        _field_type(exchange, row), old, sent, manager=options.manager,
        force=options.force, api_version=row.api_version, now=exchange.now, minor=exchange.catalogue.minor,
        subresource=subresource, in_version=partial(_in_version, exchange), kind=row.kind,
    )  # fmt: skip
    return fill_defaults(row, merged)


def _in_version(exchange: Exchange, obj: Json, api_version: str) -> tuple[Type | None, Json] | None:
    """An object in another version of its type, in which somebody owns fields; None when it is not served."""
    group, _, version = api_version.rpartition("/")
    row = exchange.catalogue.find(group, version, exchange.row.plural)
    return (_field_type(exchange, row), convert_object(obj, row)) if row else None


def _field_type(exchange: Exchange, row: Resource) -> Type | None:
    """The type by which fields are owned; custom resources have one only for this purpose."""
    if row.custom is not None:
        return custom_type(row.custom, exchange.catalogue.minor)
    return exchange.types.of_kind(row.group, row.version, row.kind)


def with_fields(exchange: Exchange, old: Json | None, new: Json, options: WriteOptions, subresource: str = "") -> Json:
    """`new` with its managed fields brought up to date."""
    emptied = _emptied(exchange, new)
    made = update_owners(
        _field_type(exchange, exchange.row), old, {**new, **emptied}, manager=options.manager,
        api_version=exchange.row.api_version, now=exchange.now, minor=exchange.catalogue.minor, subresource=subresource,
        status_apart=_has_status_apart(exchange.row), in_version=partial(_in_version, exchange),
    )  # fmt: skip
    return {**made, **dict.fromkeys(emptied)}


def _emptied(exchange: Exchange, new: Json) -> Json:
    """The lists that a body gives as empty; they are stored as null, but their writer owns them."""
    if None not in new.values():
        return {}
    given = recorded_patch(exchange.request.sent_body)
    return {key: [] for key in new if new[key] is None and given.get(key) == []} if isinstance(given, dict) else {}


def _has_status_apart(row: Resource) -> bool:
    """Whether the status of a type is written through a subresource; for a custom type its definition decides."""
    return row.custom is None or row.subresource("status") is not None


def require_name(exchange: Exchange, obj: Json) -> None:
    """Raise 400 when the body means another object than the path."""
    call, metadata = exchange.call, mapping(obj.get("metadata"))
    name, namespace = metadata.get("name") or "", metadata.get("namespace") or ""
    if not name:
        why = "name must be provided"
        raise bad_request(f"the name of the object ({call.name} based on URL) was undeterminable: {why}")
    if name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    if exchange.place and namespace and namespace != call.namespace:
        raise bad_request(
            f"the namespace of the object ({namespace}) does not match the namespace on the request ({call.namespace})"
        )


def create_object(exchange: Exchange, obj: Json, options: WriteOptions, *, by_update: bool) -> Json:
    """Store a new object after admission and validation."""
    store, row = exchange.store, exchange.row
    namespace, name = exchange.call.namespace, str(obj["metadata"].get("name") or "")
    require_place(exchange, row, namespace, name)
    obj = admit_object(store, row, obj, None, namespace=namespace)
    require_review(exchange, name)
    obj = _without_duplicates(exchange, obj, " after mutating admission happens")
    require_no_escalation(store, exchange.account, row, obj, None, namespace=namespace, name=exchange.call.name)
    metadata = _place_metadata(exchange, obj["metadata"])
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", *_IGNORED):
        metadata.pop(key, None)
    metadata |= {"uid": store.ids.uid(), "creationTimestamp": exchange.now}
    if "managedFields" not in metadata and exchange.catalogue.minor >= ESTABLISHED_SINCE:
        metadata = marked_as_unowned({"metadata": metadata})["metadata"]
    if metadata.get("generateName") and not metadata.get("name"):
        metadata["name"] = f"{metadata['generateName'][:58]}{store.ids.suffix()}"
    obj = prepared_for_create(row, {**obj, "metadata": metadata})
    if causes := creation_causes(row, obj):
        raise invalid(str(obj.get("kind") or row.kind), group_in_refusals(row), str(metadata.get("name") or ""), causes)
    obj = allocate_addresses(store, row, obj, None, dry_run=options.dry_run)
    _charge(exchange, charged_quotas(store, row, obj, None), options)
    return _store_object(exchange, obj, options, by_update=by_update)


def require_review(exchange: Exchange, name: str) -> None:
    """Have the cluster's admission policies look at a write: they warn, or refuse it with 403."""
    call = exchange.call
    approach = Approach(call.verb, exchange.row.noun, exchange.place, name, call.subresource)
    review = exchange.surroundings.review(approach)
    exchange.warnings += review.warnings
    if review.refusal is not None:
        denied = f"admission webhook {go_quote(WEBHOOK)} denied the request: {review.refusal}"
        raise ApiError(403, "Forbidden", denied)


def _charge(exchange: Exchange, changes: list[tuple[Json, Json]], options: WriteOptions) -> None:
    """Store what an object leaves of the quotas; the server does this under its own name."""
    row = exchange.catalogue.find("", "v1", "resourcequotas")
    if row is None or options.dry_run:
        return
    for old, new in changes:
        charged = update_owners(
            exchange.types.of_kind("", "v1", "ResourceQuota"), old, new, manager=own_manager(exchange.catalogue.minor),
            api_version="v1", now=exchange.now, minor=exchange.catalogue.minor, subresource="status",
        )  # fmt: skip
        exchange.store.put(row, charged)


def _store_object(exchange: Exchange, obj: Json, options: WriteOptions, *, by_update: bool) -> Json:
    row, metadata = exchange.row, obj["metadata"]
    version = metadata.pop("resourceVersion", None)
    if version not in (None, "", "0") and not options.dry_run and not by_update:
        raise internal_error("resourceVersion should not be set on objects to be created")
    there = exchange.store.get(row.noun, exchange.place, metadata["name"])
    if there is not None:
        error = already_exists(row, metadata["name"])
        if is_being_deleted(there):
            error.body["message"] = f"object is being deleted: {error.body['message']}"
        raise error
    return obj if options.dry_run else exchange.store.write(storage_row(exchange), _as_stored(exchange, obj))


def _create_by_update(exchange: Exchange, obj: Json, options: WriteOptions) -> Response:
    """Create an object for an update that found none, if the caller may."""
    call, row = exchange.call, exchange.row
    asked = Attributes("create", row.group, row.plural, call.subresource, call.namespace, call.name)
    decision = decide(exchange.store, exchange.account, asked)
    if not decision.allowed:
        # The server checks this last, so that an unacceptable object is refused for what is wrong with it.
        create_object(exchange, obj, replace(options, dry_run=True), by_update=True)
        raise access_refusal(row.group, row.plural, call.name, decision.reason)
    return object_response(exchange, create_object(exchange, obj, options, by_update=True), 201)


def require_place(exchange: Exchange, row: Resource, namespace: str, name: str) -> None:
    """Raise when a namespaced object cannot be created because its namespace is missing or being deleted."""
    if not row.namespaced:
        return
    found = exchange.store.get("namespace", "", namespace)
    if found is None:
        raise ApiError(
            404, "NotFound", f'namespaces "{namespace}" not found', {"name": namespace, "kind": "namespaces"}
        )
    if is_being_deleted(found):
        raise namespace_terminating(row, name, namespace)


def update_object(exchange: Exchange, old: Json, new: Json, options: WriteOptions, subresource: str = "") -> Json:
    """Store `new` in place of `old` when its preconditions hold and it is valid."""
    store, row, call = exchange.store, exchange.row, exchange.call
    before, name = old["metadata"], old["metadata"]["name"]
    new = admit_object(store, row, _share_equal_parts(new, old) if row.custom is None else new, old, subresource)
    require_review(exchange, name)
    new = _without_duplicates(exchange, new, " after mutating admission happens")
    require_no_escalation(store, exchange.account, row, new, old, namespace=call.namespace, name=name)
    wanted = str(new["metadata"].get("resourceVersion") or "")
    require_version(
        row, name, wanted, before["resourceVersion"], required=row.noun in _VERSION_REQUIRED or row.custom is not None
    )
    metadata = _place_metadata(exchange, new["metadata"])
    for key in _IGNORED:
        metadata.pop(key, None)
    # Older releases validate a service before they check whether its version was left out on purpose.
    if wanted or subresource or row.noun != "service" or exchange.catalogue.minor >= _SERVICES_UNCONDITIONAL_SINCE:
        metadata["resourceVersion"] = before["resourceVersion"]
    for key in ("generation", "creationTimestamp"):
        if key in before:
            metadata[key] = before[key]
        else:
            metadata.pop(key, None)
    if not metadata.get("uid"):
        metadata["uid"] = before["uid"]
    new = prepared_for_update(row, {**new, "metadata": metadata}, old, subresource)
    metadata = dict(new["metadata"])
    if before.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = before["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in before:
        metadata.setdefault("deletionGracePeriodSeconds", before["deletionGracePeriodSeconds"])
    new = {**new, "metadata": metadata}
    if causes := update_causes(row, new, old, subresource):
        raise invalid(str(new.get("kind") or row.kind), group_in_refusals(row), name, causes)
    new = allocate_addresses(store, row, new, old, dry_run=options.dry_run, subresource=subresource)
    _charge(exchange, charged_quotas(store, row, new, old, subresource), options)
    if new == old:
        return old
    if options.dry_run:
        return new
    return store.put(storage_row(exchange), _as_stored(exchange, new))


def _share_equal_parts(new: Json, old: Json) -> Json:
    """`new` with the parts that equal those of `old` replaced by them, so that identity shows what did not change."""
    return {key: old[key] if key in old and old[key] == value else value for key, value in new.items()}


def _without_duplicates(exchange: Exchange, obj: Json, when: str = "") -> Json:
    """`obj` with each owner named once; the client is warned about those that it named twice."""
    owners = obj["metadata"].get("ownerReferences") or ()
    if len(owners) < 2:
        return obj
    single = [owner for place, owner in enumerate(owners) if owner not in owners[:place]]
    if len(single) == len(owners):
        return obj
    uids = ", ".join(str(owner.get("uid", "")) for place, owner in enumerate(owners) if owner in owners[:place])
    exchange.warnings.append(
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and "
        f"may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
    )
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": single}}


def _place_metadata(exchange: Exchange, metadata: Json) -> Json:
    """Metadata in the namespace of the request; raise 400 when it names another."""
    placed = dict(metadata)
    if not exchange.row.namespaced:
        placed.pop("namespace", None)
    elif placed.setdefault("namespace", exchange.call.namespace) != exchange.call.namespace:
        raise bad_request(_OTHER_NAMESPACE)
    return placed


def storage_row(exchange: Exchange) -> Resource:
    """The version of the resource in which the store keeps its objects."""
    row = exchange.row
    if not row.stored or row.stored == row.api_version:
        return row
    group, _, version = row.stored.rpartition("/")
    return exchange.catalogue.find(group, version, row.plural) or row


def _as_stored(exchange: Exchange, obj: Json) -> Json:
    return convert_object(obj, storage_row(exchange))
