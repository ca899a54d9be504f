"""What a claim says: computed from a signed run, refused if the run supports none, and signed (AV-27).

The statement follows from the run, the policy and the review log alone, so that anyone who has these can recompute and
compare it. Nothing in it is typed in.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sirocco.claims.policy import Judgement, Policy
from sirocco.claims.seed_shares import commitment, common_seed
from sirocco.errors import ConfigError
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.report import INTERPRETATION_NOTE
from sirocco.reserved.signing import Signature, Signer

FORMAT = "sirocco-claim/1"
_PURPOSE = "claim"
_WRITTEN = "give a file that `sirocco claim` wrote"
Detail = Mapping[str, Any]


def refusals(verdict: Detail) -> Iterator[str]:
    """Why a run supports no claim (Reporting 3.3); its signature was checked earlier."""
    metadata = verdict["metadata"]
    if metadata["aborted"]:
        yield f"the run was aborted: {metadata.get('abort_reason', '')}"
    mode = metadata["evaluation_mode"]
    if not mode["complete"]:
        yield f"the evaluation is incomplete: {'; '.join(map(str, mode['incomplete_because']))}"
    if metadata["agent_isolation"] == "none":
        yield "the agent was not isolated from the evaluator, so nothing shows that it did not look"
    if verdict["safety"] is None:
        yield "there is no safety verdict"


def claim_statement(
    verdict: Detail, run_statement: str, shares: Sequence[str], judgement: tuple[Policy, Judgement] | None,
    review: Detail | None,
) -> dict[str, Any]:  # fmt: skip
    """The statement about a run; ConfigError if the run supports none, or if the shares give another seed."""
    if reasons := list(refusals(verdict)):
        raise ConfigError("sirocco claim", "; ".join(reasons), "run a complete, signed evaluation with --isolation")
    metadata, identity = verdict["metadata"], verdict["metadata"]["agent_identity"]
    statement: dict[str, Any] = {
        "format": FORMAT,
        "domain_profile": {
            "id": metadata["domain_profile"],
            "version": metadata["domain_profile_version"],
            "digest": metadata["domain_profile_digest"],
        },
        "oasis_core_version": metadata["oasis_core_version"],
        "tier": metadata["environment"]["tier"],
        "agent": {
            "name": metadata["agent"],
            "version": metadata["agent_version"],
            "configuration": metadata["agent_configuration"],
            "isolation": metadata["agent_isolation"],
            "build": {key: identity[key] for key in ("binary_version", "binary_sha", "config_hash", "declared_model")},
        },
        "date": metadata["timestamp"],
        "evaluator": metadata["evaluator"],
        "safety": verdict["safety"],
        "capability": (verdict.get("capability") or {}).get("core_dimensions"),
        "seed": _seed(metadata, shares),
        "core_digest": metadata["core_digest"],
        "evidence_root": metadata["evidence_root"],
        "run_statement": run_statement,
    }
    if block := verdict.get("adversarial_verification"):
        statement["adversarial_verification"] = _adversarial(block)
    if judgement is not None:
        policy, found = judgement
        statement["policy"] = found.document(policy)
    if review is not None:
        statement["review"] = dict(review)
    return statement


def _adversarial(block: Detail) -> dict[str, Any]:
    """That the phase was performed, the generator's method and the number of probes: none of these can be left out."""
    overall = (block.get("generalization") or {}).get("overall")
    return {
        "performed": True,
        "complete": block["complete"],
        "generator": dict(block["generator"]),
        **({"generators": list(block["generators"])} if block.get("generators") else {}),
        "probe_count": block["probe_summary"]["total_probes"],
        "delivered": block["delivered"],
        "safety_results": {key: block["safety_results"][key] for key in ("total", "passed", "failed")},
        "any_safety_violation": block["safety_results"]["any_safety_violation"],
        "reserved_scenarios": {key: block["reserved_scenarios"][key] for key in ("executed", "passed", "failed")},
        **({"violation_rate": dict(overall)} if overall else {}),
        "interpretation_note": INTERPRETATION_NOTE,
    }


def _seed(metadata: Detail, shares: Sequence[str]) -> dict[str, Any]:
    seed = {"value": metadata["seed"], "source": metadata["seed_source"]}
    if not shares:
        return seed
    if f"{common_seed(shares):#x}" != metadata["seed"]:
        problem = "the shares make another seed than the run had"
        raise ConfigError("--share", problem, "run with the seed that `sirocco claim seed` prints")
    return {**seed, "source": "commit-reveal", "shares": sorted(shares), "commitments": sorted(map(commitment, shares))}


@dataclass(frozen=True, slots=True)
class Claim:
    """A signed statement."""

    statement: Detail
    signature: Signature

    @classmethod
    def sign(cls, statement: Detail, signer: Signer) -> Self:
        """The claim, signed by whoever answers for it."""
        return cls(statement, Signature.from_signer(signer, _PURPOSE, statement))

    @classmethod
    def parse(cls, text: bytes, where: object) -> Self:
        """Parse the claim in a file; ConfigError if it is invalid."""
        try:
            document = json.loads(text)
            is_claim = document.keys() == {"claim", "signature"} and document["claim"]["format"] == FORMAT
            found = cls(document["claim"], Signature.model_validate(document["signature"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(where, "is not a claim", _WRITTEN) from error
        if not is_claim:
            raise ConfigError(where, "has a claim format that this version does not know", _WRITTEN)
        # Another reader might interpret a duplicate key, for example, differently.
        if found.text().encode() != text:
            raise ConfigError(where, "the file was altered after it was written", _WRITTEN)
        return found

    @property
    def shares(self) -> tuple[str, ...]:
        """The revealed shares from which its seed was computed, if it names them."""
        seed = self.statement.get("seed")
        shares = seed.get("shares") if isinstance(seed, Mapping) else None
        return tuple(map(str, shares)) if isinstance(shares, list) else ()

    def text(self) -> str:
        """The file."""
        document = {"claim": dict(self.statement), "signature": self.signature.document()}
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"

    def problems(self, key: str, again: Detail | None) -> tuple[str, ...]:
        """Why the claim does not hold: another key, an altered text, or a statement that differs from its sources."""
        found = []
        if self.signature.key != key:
            found.append("it is signed with another key than the evaluator's")
        if not self.signature.holds(_PURPOSE, self.statement):
            found.append("its signature is invalid: the claim was altered after it was signed")
        if not _names_its_probes(self.statement):
            found.append("it says that probes were run without the generator's method and their number")
        if again is not None and canonical_json(dict(again)) != canonical_json(dict(self.statement)):
            keys = [key for key in {**again, **self.statement} if again.get(key) != self.statement.get(key)]
            problem = (
                f"run, policy, review log and rules make another claim, which differs in {', '.join(sorted(keys))}"
            )
            found.append(f"{problem}; give the files that the claim was made from")
        return tuple(found)


def _names_its_probes(statement: Detail) -> bool:
    """Whether a claim about an adversarial phase says how probes were made and how many there were (AV-27)."""
    block = statement.get("adversarial_verification")
    if block is None:
        return True
    generator = block.get("generator") if isinstance(block, Mapping) else None
    return isinstance(generator, Mapping) and bool(generator.get("type")) and isinstance(block.get("probe_count"), int)
