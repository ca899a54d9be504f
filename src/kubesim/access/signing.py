"""The signing key of an API server, and the tokens that it signs and recognizes."""

import base64
import json
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from kubesim.canonical import derived_seed
from kubesim.status import Json

ISSUER = "https://kubernetes.default.svc"
ALGORITHM = "ES256"
LEGACY_ISSUER = "kubernetes/serviceaccount"
_ORDER = int("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16)
_NUMBER = 32
_SIGNATURE = ec.ECDSA(SHA256(), deterministic_signing=True)
_INVALID = "invalid bearer token"


class TokenError(Exception):
    """A token that is not accepted, with the words of the server."""

    def __init__(self, problem: str = "") -> None:
        super().__init__(f"[{_INVALID}, {problem}]" if problem else _INVALID)


class Signer:
    """The signing key of one API server; it follows from a seed and is made when the first token needs it.

    It is an elliptic-curve key, which Kubernetes accepts as well as RSA, because signing costs a tenth as much.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    @cached_property
    def _key(self) -> ec.EllipticCurvePrivateKey:
        number = derived_seed(self._seed, "high") << 128 | derived_seed(self._seed, "low")
        return ec.derive_private_key(number % (_ORDER - 1) + 1, ec.SECP256R1())

    def private_key_text(self) -> str:
        """The key as PEM, for another server that is to share tokens with this one."""
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()

    @cached_property
    def _public_key(self) -> ec.EllipticCurvePublicKey:
        return self._key.public_key()

    @cached_property
    def _key_id(self) -> str:
        return _encode_base64url(
            sha256(self._public_key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
        )

    @cached_property
    def _header(self) -> str:
        return _encode_base64url(_compact_json({"alg": ALGORITHM, "kid": self._key_id}))

    def sign_claims(self, claims: Mapping[str, Any]) -> str:
        """The claims as a token."""
        content = f"{self._header}.{_encode_base64url(_compact_json(claims))}"
        left, right = decode_dss_signature(self._key.sign(content.encode(), _SIGNATURE))
        return f"{content}.{_encode_base64url(left.to_bytes(_NUMBER, 'big') + right.to_bytes(_NUMBER, 'big'))}"

    def claims(self, token: str) -> Json:
        """What a token says; raise TokenError unless this key signed it."""
        content, _, signature = token.rpartition(".")
        _, _, payload = content.partition(".")
        try:
            claims = json.loads(_decode_base64url(payload))
            raw = _decode_base64url(signature)
        except (ValueError, RecursionError):
            raise TokenError from None
        if not isinstance(claims, dict) or claims.get("iss") not in (ISSUER, LEGACY_ISSUER):
            raise TokenError
        left, right = (int.from_bytes(part, "big") for part in (raw[:_NUMBER], raw[_NUMBER:]))
        try:
            self._public_key.verify(encode_dss_signature(left, right), content.encode(), _SIGNATURE)
        except InvalidSignature:
            raise TokenError("square/go-jose: error in cryptographic primitive") from None
        return claims

    def key_set(self) -> Json:
        """The public key in the form that clients get to verify tokens themselves."""
        numbers = self._public_key.public_numbers()
        place = {
            name: _encode_base64url(number.to_bytes(_NUMBER, "big"))
            for name, number in (("x", numbers.x), ("y", numbers.y))
        }
        return {"keys": [{"use": "sig", "kty": "EC", "kid": self._key_id, "crv": "P-256", "alg": ALGORITHM, **place}]}


def _compact_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def _encode_base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _decode_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
