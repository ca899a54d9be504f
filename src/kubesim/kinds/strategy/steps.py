"""What the strategies of many types have in common: a status of their own, and a generation."""

from collections.abc import Callable

from kubesim.status import Json

Creation = Callable[[Json], Json]
Update = Callable[[Json, Json], Json]


def with_generation(obj: Json, generation: int) -> Json:
    """The object with this generation."""
    return {**obj, "metadata": {**obj["metadata"], "generation": generation}}


def generation(obj: Json) -> int:
    """The object's generation; 0 when it has none."""
    return int(obj["metadata"].get("generation") or 0)


def creation_step(*, status: Json | None = None, counted: bool = True) -> Creation:
    """A new object with an empty status, if the type has one, and generation 1."""

    def prepare(obj: Json) -> Json:
        fresh = obj if status is None else {**obj, "status": status}
        return with_generation(fresh, 1) if counted else fresh

    return prepare


def update_step(*, status: bool = True, counted: bool = True) -> Update:
    """A changed object with its old status, and a higher generation when its spec changed."""

    def prepare(new: Json, old: Json) -> Json:
        kept = with_status_of(new, old) if status else new
        if not counted:
            return kept
        return with_generation(kept, generation(old) + (new.get("spec") != old.get("spec")))

    return prepare


def with_status_of(new: Json, old: Json) -> Json:
    """The new object with the status of the old one."""
    rest = {name: value for name, value in new.items() if name != "status"}
    return {**rest, "status": old["status"]} if "status" in old else rest


def only_status(new: Json, old: Json) -> Json:
    """What a write to the status subresource keeps of the new object: the spec stays the old one."""
    rest = {name: value for name, value in new.items() if name != "spec"}
    return {**rest, "spec": old["spec"]} if "spec" in old else rest
