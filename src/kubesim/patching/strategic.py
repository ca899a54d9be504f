"""Strategic merge patches: maps merge, lists merge by the keys of their types, and directives are obeyed."""

from typing import Any

from kubesim.bodies.go_text import go_print, type_name
from kubesim.status import ApiError, Json, bad_request, internal_error, rejected_patch
from kubesim.types.definitions import Shape, Type

_DIRECTIVE, _RETAIN = "$patch", "$retainKeys"
_ORDER, _DELETE_VALUES = "$setElementOrder", "$deleteFromPrimitiveList"
_CLEANED_SINCE = 25  # before that, nulls and directives in what a patch adds were taken literally
_BAD_ORDER = "invalid patch format of setElementOrder list"


def strategic_merge(document: Json, patch: Json, type_: Type) -> Json:
    """`document` after the patch; raise the server's refusal of an invalid patch.

    The directives are removed from `patch` as they are carried out: the server shows what is left of it.
    """
    return _merged_map(document, patch, type_, cleans=type_.definitions.minor >= _CLEANED_SINCE)


def _merged_map(original: Json, patch: Json, type_: Type | None, *, cleans: bool) -> Json:
    if _DIRECTIVE in patch:
        return _obey_directive(patch)
    result = _retain_keys(original, patch)
    for key in [key for key in patch if key.startswith(_ORDER)]:
        _merge_ordered(result, patch, key, type_, cleans=cleans)
    for key, value in patch.items():
        is_deletion = key.startswith(_DELETE_VALUES)
        field = _directive_field(key, "invalid patch format of primitive list") if is_deletion else key
        if value is None:
            result.pop(field, None)
        elif field not in result:
            if not (is_deletion and cleans):
                result[field] = _clean_addition(value) if cleans else value
        elif type(result[field]) is not type(value):
            result[field] = value
        elif isinstance(value, dict):
            inner = _field(type_, field)
            replaces = "replace" in inner.patch_strategies
            result[field] = value if replaces else _merged_map(result[field], value, inner, cleans=cleans)
        elif isinstance(value, list):
            inner = _list_field(type_, field)
            result[field] = _merged_list(result[field], value, inner, is_deletion=is_deletion, cleans=cleans)
        else:
            result[field] = value
    return result


def _obey_directive(patch: Json) -> Json:
    directive = patch[_DIRECTIVE]
    if directive == "replace":
        del patch[_DIRECTIVE]
        return patch
    if directive == "delete":
        return {}
    raise _bad_directive(patch)


def _bad_directive(patch: Json) -> ApiError:
    directive = patch[_DIRECTIVE]
    shown = directive if isinstance(directive, str) else f"%!s({type_name(directive)}={go_print(directive)})"
    return internal_error(f"unknown patch type: {shown} in map: {go_print(patch)}")


def _retain_keys(original: Json, patch: Json) -> Json:
    """A copy of the map with only the keys that the patch wants to keep, if it says so."""
    if _RETAIN not in patch:
        return dict(original)
    kept = patch.pop(_RETAIN)
    if not isinstance(kept, list):
        raise bad_request("invalid patch format of retainKeys")
    for key, value in patch.items():
        if value is None or key.startswith((_DELETE_VALUES, _ORDER)):
            continue
        if key not in kept:
            raise bad_request("invalid patch format of retainKeys")
    return {key: value for key, value in original.items() if key in kept}


def _directive_field(key: str, problem: str) -> str:
    prefix, slash, field = key.partition("/")
    if not slash or prefix not in {_ORDER, _DELETE_VALUES}:
        raise bad_request(problem)
    return field


def _field(type_: Type | None, field: str) -> Type:
    """The type of a field that both sides have as a map or list."""
    if type_ is None or type_.shape is not Shape.STRUCT:
        kind = _go_kind(type_)
        raise internal_error(f"merging an object in json but data type is not struct, instead is: {kind}")
    found = type_.fields.get(field) or next(
        (inner for name, inner in type_.fields.items() if name.lower() == field.lower()), None
    )
    if found is None:
        name = type_.name.rpartition(".")[2]
        raise internal_error(f'unable to find api field in struct {name} for the json field "{field}"')
    return found


def _list_field(type_: Type | None, field: str) -> Type:
    found = _field(type_, field)
    if found.shape is not Shape.LIST:
        raise internal_error(f"expected slice or array type, but got: {_go_kind(type_)}")
    return found


def _go_kind(type_: Type | None) -> str:
    if type_ is None:
        return "interface"
    kinds = {Shape.MAP: "map", Shape.LIST: "slice", Shape.INTEGER: f"int{type_.bits}", Shape.BOOLEAN: "bool",
             Shape.STRING: "string"}  # fmt: skip
    return kinds.get(type_.shape, "struct")


def _merge_ordered(result: Json, patch: Json, key: str, type_: Type | None, *, cleans: bool) -> None:
    """Merge a list and put its items into the order that the patch requests."""
    order = patch.pop(key)
    field = _directive_field(key, _BAD_ORDER)
    for value in (order, result.get(field, []), patch.get(field, [])):
        if not isinstance(value, list):
            raise internal_error(f"expected a []interface {{}}, but received a {type_name(value)}")
    old, new = result.get(field), patch.get(field)
    inner = _list_field(type_, field)
    _require_order(new or [], order, inner.merge_key)
    if old is None and new is None:
        return
    patch.pop(field, None)
    if old is not None and new is not None:
        merged = _merged_list(old, new, inner, is_deletion=False, cleans=cleans)
    else:
        merged = list((old if new is None else new) or [])
    if not (old or new):
        raise internal_error("no elements in any of the given slices")
    result[field] = _arrange_items(merged, order, old or [], inner.merge_key)


def _require_order(new: list[Any], order: list[Any], merge_key: str) -> None:
    """Require the items of the patch in the order that it states."""
    if not new or not order:
        return
    named = [item for item in new if not (merge_key and isinstance(item, dict) and item.get(_DIRECTIVE) == "delete")]
    place = 0
    for item in order:
        while place < len(named) and isinstance(named[place], dict) and _DIRECTIVE in named[place]:
            place += 1
        if place < len(named) and _are_same_items(named[place], item, merge_key):
            place += 1
    if place < len(named):
        raise internal_error(
            f"The order in patch list:\n{go_print(new)}\n doesn't match {_ORDER} list:\n{go_print(order)}\n"
        )


def _are_same_items(left: Any, right: Any, merge_key: str) -> bool:
    if not merge_key:
        return bool(left == right)
    for item in (left, right):
        if not isinstance(item, dict):
            raise internal_error(f"expected a map[string]interface {{}}, but received a {type_name(item)}")
        _require_key(item, merge_key)
    return bool(left[merge_key] == right[merge_key])


def _require_key(item: Json, merge_key: str) -> None:
    if merge_key not in item:
        raise internal_error(f"map: {go_print(item)} does not contain declared merge key: {merge_key}")


def _merged_list(old: list[Any], new: list[Any], type_: Type, *, is_deletion: bool, cleans: bool) -> list[Any]:
    if "merge" not in type_.patch_strategies:
        return new
    if not old and not new:
        return old
    if not _holds_maps(old, new):
        if is_deletion:
            return [item for item in old if item not in new]
        merged: list[Any] = []
        for item in [*old, *new]:
            if item not in merged:
                merged.append(item)
        return _arrange_items(merged, new, old, "")
    merge_key = type_.merge_key
    if not merge_key:
        raise internal_error(f"cannot merge lists without merge key for {_go_kind(type_.element)}")
    left, items = _specials_done(old, new, merge_key)
    result = list(left)
    for item in items:
        _require_key(item, merge_key)
        place = _place(result, item, merge_key)
        if place < 0:
            result.append(item)
        else:
            result[place] = _merged_map(result[place], item, type_.element, cleans=cleans)
    arranged = _arrange_items(result, items, left, merge_key)
    return [_clean_addition(item) for item in arranged] if cleans else arranged


def _holds_maps(old: list[Any], new: list[Any]) -> bool:
    """Whether the items are maps; all of them must be of one type."""
    names = {type_name(item) for item in (*old, *new)}
    if type_name([]) in names:
        raise rejected_patch()
    if len(names) > 1:
        raise internal_error(f"list element types are not identical: {go_print([old, new])}")
    return names == {type_name({})}


def _specials_done(old: list[Json], new: list[Json], merge_key: str) -> tuple[list[Json], list[Json]]:
    """The old items without those that the patch deletes or replaces, and the items that it merges."""
    items, replaces = [], False
    for item in new:
        if _DIRECTIVE not in item:
            items.append(item)
        elif item[_DIRECTIVE] == "delete":
            _require_key(item, merge_key)
            old = [known for known in old if known.get(merge_key) != item[merge_key]]
        elif item[_DIRECTIVE] == "replace":
            replaces = True
        elif item[_DIRECTIVE] == "merge":
            raise internal_error("merging lists cannot yet be specified in the patch")
        else:
            raise _bad_directive(item)
    return (items, []) if replaces else (old, items)


def _place(items: list[Any], item: Any, merge_key: str) -> int:
    """The position of an item in a list, by its key or as a whole; -1 if it is not there."""
    for index, known in enumerate(items):
        if (known.get(merge_key) == item.get(merge_key)) if merge_key else known == item:
            return index
    return -1


def _arrange_items(merged: list[Any], wanted: list[Any], old: list[Any], merge_key: str) -> list[Any]:
    """The merged items: those of the patch in its order, woven into the others by their order in the old list.

    Where the old list does not decide, an item of the patch comes first.
    """
    if merge_key:
        for item in (*merged, *wanted, *old):
            if not isinstance(item, dict):
                raise internal_error(f"expected a map[string]interface {{}}, but received a {type_name(item)}")
            _require_key(item, merge_key)
    right = [item for item in merged if _place(wanted, item, merge_key) >= 0]
    right.sort(key=lambda item: _place(wanted, item, merge_key))
    left = [item for item in merged if _place(wanted, item, merge_key) < 0]
    left.sort(key=lambda item: _place(old, item, merge_key))
    result: list[Any] = []
    while left and right:
        mine, theirs = _place(old, left[0], merge_key), _place(old, right[0], merge_key)
        result.append((left if 0 <= mine < theirs else right).pop(0))
    return [*result, *left, *right]


def _clean_addition(value: Any) -> Any:
    """What a patch adds, without nulls and directives."""
    if isinstance(value, dict):
        return {
            key: _clean_addition(item) for key, item in value.items() if item is not None and not key.startswith("$")
        }
    if isinstance(value, list):
        return [
            _clean_addition(item) for item in value if not (isinstance(item, dict) and item.get(_DIRECTIVE) == "delete")
        ]
    return value
