"""Material for a run: what a domain's texts are worded from, with what a folder or sealed bundles add to it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from sirocco.errors import ConfigError, ReservedError, SiroccoError
from sirocco.oasis.profile import Profile
from sirocco.probes.language.material import Material, MaterialFile, material_faults, parse_material
from sirocco.reserved.phase import file_bytes
from sirocco.reserved.sealed_material import open_material
from sirocco.wiring.reserved_keys import identities_in


def domain_material(profile: Profile) -> Material:
    """The public material of a profile's domain."""
    found = profile.domain.mutation.terms.speech.material
    if not isinstance(found, Material):
        problem = f"texts of {profile.domain.environment_type} are not worded from material"
        raise ConfigError("--material", problem, "leave it out")
    return found


def folder_files(folder: Path) -> dict[str, str]:
    """The files of material in a folder by their names."""
    paths = sorted(folder.glob("*.yaml")) if folder.is_dir() else [folder]
    if not paths:
        raise ConfigError(folder, "there is no file of material in it", "see docs/material.md for the format")
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def checked_material(folder: Path, profile: Profile) -> Material:
    """The public material with the files of a folder; ConfigError with all that is wrong with them."""
    base = domain_material(profile)
    whole = base.with_files(parse_material(text, name) for name, text in folder_files(folder).items())
    if faults := material_faults(whole):
        raise ConfigError(folder, "; ".join(map(str, faults)), "see docs/material.md for the format")
    return whole


def opened_material(bundles: Sequence[Path], identity: Path | None, profile: Profile) -> Material | None:
    """The public material with that of sealed bundles over it; None where no bundle is given (AV-10)."""
    if not bundles:
        return None
    if identity is None:
        raise ConfigError("--material", "a sealed bundle needs a key", "add --identity KEYFILE")
    keys = identities_in(identity, "--identity")
    material = domain_material(profile)
    for path in bundles:
        files = open_material(file_bytes(path, "--material").decode("utf-8", "replace"), keys, path)
        material = material.with_files(_parsed_files(files.values(), path))
    if material_faults(material):
        raise ReservedError("--material", "the sealed material is not sound", "check it before it is sealed again")
    return material


def _parsed_files(texts: Iterable[str], where: Path) -> list[MaterialFile]:
    """The files of a bundle; what is wrong with one is not told, since the message would quote it."""
    found = []
    for number, text in enumerate(texts, start=1):
        try:
            found.append(parse_material(text, f"file {number}"))
        except SiroccoError:
            problem = f"file {number} is not sound material"
            raise ReservedError(
                where, problem, "check the folder with `sirocco material check` and seal it again"
            ) from None
    return found
