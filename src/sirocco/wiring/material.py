"""Material for a run: what a domain's texts are worded from, extended by a folder or sealed bundles."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sirocco.errors import ConfigError, ReservedError, SiroccoError
from sirocco.oasis.profile import Profile
from sirocco.probes.language.material import Material, MaterialFile, material_faults, parse_material, strange_names
from sirocco.reserved.bundle import open_bundle, seal_files
from sirocco.reserved.phase import file_bytes
from sirocco.reserved.signing import Signer
from sirocco.wiring.reserved_keys import Maintainer, identities_in, passphrase, signing_file


def domain_material(profile: Profile) -> Material:
    """The public material of a profile's domain."""
    found = profile.domain.mutation.terms.speech.material
    if not isinstance(found, Material):
        problem = f"texts of {profile.domain.environment_type} are not worded from material"
        raise ConfigError("--material", problem, "leave it out")
    return found


def folder_files(folder: Path) -> dict[str, str]:
    """The material files in a folder, by name."""
    paths = sorted(folder.glob("*.yaml")) if folder.is_dir() else [folder]
    if not paths:
        raise ConfigError(folder, "it contains no material files", "see docs/material.md for the format")
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def checked_material(folder: Path, profile: Profile) -> Material:
    """The public material with the files of a folder; ConfigError with everything wrong with them."""
    base = domain_material(profile)
    files = [parse_material(text, name) for name, text in folder_files(folder).items()]
    whole = base.with_files(files)
    if faults := material_faults(whole) or strange_names(base, whole, files):
        raise ConfigError(folder, "; ".join(map(str, faults)), "see docs/material.md for the format")
    return whole


def sealed_material(files: Mapping[str, str], key: Path, recipients: Sequence[str]) -> bytes:
    """A sealed bundle of material files, signed with a maintainer's key; its owner and the recipients can open it."""
    owner = Maintainer.read(key)
    texts = {name: text.encode() for name, text in files.items()}
    return seal_files(texts, tuple(dict.fromkeys((owner.recipient, *recipients))), owner.signer, "material")


def opened_material(bundles: Sequence[Path], identity: Path | None, profile: Profile) -> Material | None:
    """The public material overlaid with sealed bundles; None if no bundle is given (AV-10).

    A bundle that was signed by neither a maintainer of the profile nor the identity's owner is refused.
    """
    if not bundles:
        return None
    if identity is None:
        raise ConfigError("--material", "a sealed bundle needs a key", "add --identity KEYFILE")
    keys, trusted = identities_in(identity, "--identity"), _trusted_signers(profile, identity)
    material = domain_material(profile)
    for path in bundles:
        files = open_bundle(file_bytes(path, "--material"), keys, "material", maintainers=trusted, where=path)
        material = material.with_files(_parsed_files((text.decode() for text in files.values()), path))
    if material_faults(material):
        raise ReservedError("--material", "the sealed material is not valid", "check it and seal it again")
    return material


def _trusted_signers(profile: Profile, identity: Path) -> frozenset[str]:
    """Whose material is accepted: that of the profile's maintainers, and one's own."""
    policy, own = profile.document.reserved, signing_file(identity)
    named = frozenset(policy.maintainers if policy else ())
    if not own.is_file():
        return named
    return named | {Signer.from_pem(file_bytes(own, "--identity"), passphrase(), own).public}


def _parsed_files(texts: Iterable[str], where: Path) -> list[MaterialFile]:
    """The files of a bundle; errors do not say what is wrong with one, since the message would quote it."""
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
