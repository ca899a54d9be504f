"""Who sends a request: static tokens, service-account tokens, or nobody."""

import base64
from collections.abc import Mapping, Sequence
from hashlib import sha256

from kubesim.access.principal import ANONYMOUS, Principal
from kubesim.access.signing import ISSUER, Signer, TokenError
from kubesim.access.tokens import (
    TOKEN_SECRET,
    Authenticated,
    Credential,
    accept_token,
    account_of_secret,
    account_principal,
    credential,
    filled_secret,
    held_token,
)
from kubesim.resource import BY_NOUN
from kubesim.status import Json
from kubesim.store import Key, Store

API_AUDIENCES = (ISSUER,)
_WEBSOCKET_TOKEN = "base64url.bearer.authorization.k8s.io."  # noqa: S105  (a prefix)
_REMEMBERED = 1024


class Authenticator:
    """The credentials that one API server accepts; `seed` determines the key that signs its service-account tokens."""

    def __init__(self, users: Mapping[str, Principal] | None = None, *, seed: int = 0) -> None:
        self.signer = Signer(seed)
        self._seed = seed
        self._users = dict(users or {})
        self._planted: dict[str, tuple[Key, str]] = {}
        self._known: dict[str, Credential] = {}
        self._words: dict[str, Credential] = {}
        self._issued: set[str] = set()

    def plant(self, store: Store, authority: str = "") -> None:
        """Give the secrets of service accounts their tokens, and accept whatever tokens they hold already.

        This happens once, before clients connect. What they write later is never looked at; otherwise anyone who can
        write secrets could act as any account. `authority` is the certificate that the secrets show beside the token.
        """
        of_accounts = [item["metadata"] for item in store.contents("secret") if item.get("type") == TOKEN_SECRET]
        for place in of_accounts:
            secret = store.get("secret", place["namespace"], place["name"])
            account = account_of_secret(store, secret) if secret else None
            if secret is None or account is None:
                continue
            metadata = secret["metadata"]
            if held := held_token(secret):
                self._planted[held] = (Key("secret", metadata["namespace"], metadata["name"]), metadata["uid"])
            store.update(BY_NOUN["secret"], secret, filled_secret(self.signer, secret, account, authority))

    def word_for(self, claims: Json) -> str:
        """A word for callers in this process, in place of a token with these claims, because signing one takes long."""
        word = sha256(f"{self._seed} {claims['jti']}".encode()).hexdigest()
        self._words[word] = credential(claims)
        return word

    def issue(self, claims: Json) -> str:
        """A token with these claims, for callers elsewhere."""
        token = self.signer.sign_claims(claims)
        self._known[token] = credential(claims)
        self._issued.add(token)
        return token

    def is_own(self, headers: Mapping[str, str]) -> bool:
        """Whether a request shows the token issued to its caller for this environment, or none at all."""
        token = _bearer_token(headers)
        return token is None or any(token in known for known in (self._words, self._issued, self._users))

    def authenticate(self, headers: Mapping[str, str], store: Store, now: str = "") -> Principal | None:
        """The account behind a request's headers (names in lower case); None when its credential is not accepted."""
        token = _bearer_token(headers)
        if token is None:
            return ANONYMOUS
        try:
            return self.review(token, store, now).principal
        except TokenError:
            return None

    def review(self, token: str, store: Store, now: str, audiences: Sequence[str] = API_AUDIENCES) -> Authenticated:
        """The account behind a token and the audiences it is valid for; raise TokenError when it is valid for none."""
        known = self._users.get(token)
        if known is None and token in self._planted:
            known = self._planted_principal(token, store)
        if known is not None:
            common = tuple(name for name in API_AUDIENCES if name in audiences)
            if not common:
                raise TokenError
            return Authenticated(known, common)
        verified = self._words.get(token) or self._known.get(token)
        if verified is None:
            verified = credential(self.signer.claims(token))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[token] = verified
        return accept_token(verified, token, store, now, audiences)

    def _planted_principal(self, token: str, store: Store) -> Principal | None:
        key, uid = self._planted[token]
        secret = store.get(*key)
        if secret is None or secret["metadata"]["uid"] != uid or held_token(secret) != token:
            return None
        account = account_of_secret(store, secret)
        return None if account is None else account_principal(account)


def _bearer_token(headers: Mapping[str, str]) -> str | None:
    """The bearer token of a request; a WebSocket may carry it as a subprotocol. Other schemes count as none."""
    scheme, *rest = headers.get("authorization", "").strip().split(" ", 2)
    if rest and scheme.lower() == "bearer" and rest[0]:
        return rest[0]
    for protocol in headers.get("sec-websocket-protocol", "").split(","):
        if protocol.strip().startswith(_WEBSOCKET_TOKEN):
            encoded = protocol.strip().removeprefix(_WEBSOCKET_TOKEN)
            try:
                return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
            except ValueError:
                return ""
    return None
