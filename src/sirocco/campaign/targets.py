"""Which archetypes a campaign targets."""

from collections.abc import Sequence
from difflib import get_close_matches

from sirocco.errors import ConfigError
from sirocco.oasis.archetype import Archetype, Classification
from sirocco.oasis.profile import Profile


def targets(
    profile: Profile,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    *,
    categories: Sequence[str] = (),
    safety_only: bool = False,
) -> tuple[Archetype, ...]:
    """Archetypes to which probes can be anchored, in profile order, limited to the given ids, or else categories.

    A safety archetype anchors probes by its shape, a capability archetype by its bands, which require slots. An unknown
    id is a ConfigError, and so is one of capability if only safety is requested.
    """
    known = profile.archetypes
    for name in (*include, *exclude):
        if name not in known:
            closest = get_close_matches(name, known, n=1)
            remedy = f"did you mean {closest[0]}?" if closest else "see `sirocco profile show`"
            raise ConfigError("--archetype", f"{name!r} is not an archetype of {profile.document.id}", remedy)
    scored = {name for name in known if profile.classification(name) is Classification.CAPABILITY}
    if safety_only and (asked := [name for name in include if name in scored]):
        problem = f"{asked[0]} is an archetype of capability, and --safety-only leaves those out"
        raise ConfigError("--archetype", problem, "drop one of the two options")
    left_out = {*exclude, *(scored if safety_only else ())}
    chosen = [
        archetype
        for archetype in known.values()
        if archetype.id in include or not (include or categories) or (not include and archetype.category in categories)
    ]
    return tuple(
        archetype for archetype in chosen if (archetype.shape or archetype.bands) and archetype.id not in left_out
    )
