"""What clients read to check service-account tokens themselves: the issuer and its keys."""

from kubesim.access.signing import ALGORITHM, ISSUER, Signer
from kubesim.status import ApiError, Json

_KEYS = "/openid/v1/jwks"
_TYPES = {"/.well-known/openid-configuration": "application/json", _KEYS: "application/jwk-set+json"}


def openid_answer(signer: Signer, path: str, accept: str, server: str) -> tuple[Json, str] | None:
    """The document at a path and its media type, or None; raise 406 when the client does not accept it."""
    if path not in _TYPES:
        return None
    kinds = {part.partition(";")[0].strip() for part in (accept or "*/*").split(",")}
    if not kinds & {_TYPES[path], "application/*", "*/*"}:
        raise ApiError(406, "NotAcceptable", "406: Not Acceptable", {})
    configuration = {
        "issuer": ISSUER,
        "jwks_uri": f"https://{server}{_KEYS}",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
    }
    return (signer.key_set() if path == _KEYS else configuration), _TYPES[path]
