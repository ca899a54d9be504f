"""Service-account tokens: the claims of Kubernetes, the objects that tokens are bound to, and TokenRequests."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from kubesim.access.principal import (
    Principal,
    service_account,
    split_username,
    username_of,
)
from kubesim.access.signing import ISSUER, LEGACY_ISSUER, Signer, TokenError
from kubesim.bodies.go_text import go_quote
from kubesim.status import ApiError, Cause, Json, bad_request, invalid
from kubesim.store import Key, Store

TOKEN_SECRET = "kubernetes.io/service-account-token"  # noqa: S105  (the type of a secret)
ACCOUNT_NAME = "kubernetes.io/service-account.name"
ACCOUNT_UID = "kubernetes.io/service-account.uid"
_LEGACY = "kubernetes.io/serviceaccount/"
_EXTRA = "authentication.kubernetes.io/"
_DATED_SINCE = 34
"""The first release known to say in its answer whom a token is for, and when it was requested."""
_LEAST_SECONDS, _MOST_SECONDS = 600, 1 << 32
_DEFAULT_SECONDS = 3600
_YEAR = 365 * 24 * 3600
_MOUNTED_SECONDS, _EXTENDED_SECONDS = 3607, _YEAR
"""What kubelets request for the tokens that they mount, and how long those really last, so that old clients keep
working."""
_WITH_IDS = 30
"""The first release whose tokens have an id of their own and name the node of their pod."""

_SECONDS = "2006-01-02T15:04:05"


@dataclass(frozen=True, slots=True)
class Credential:
    """What a verified token says: an account, and the objects on whose existence the token depends."""

    principal: Principal
    audiences: tuple[str, ...]
    expires: str
    """The last second of its life; empty for a token that does not expire."""
    account: Key
    bound: tuple[tuple[Key, str], ...]
    copy: Key | None
    """The secret that must hold the token, for one that does not expire."""


class Authenticated(NamedTuple):
    """The account behind a token, and the audiences for which it is valid."""

    principal: Principal
    audiences: tuple[str, ...]


def defaulted_request(request: Json) -> Json:
    """A decoded TokenRequest with the lifetime that the server fills in when none is requested."""
    spec = request.get("spec") or {}
    return request if spec.get("expirationSeconds") is not None else {
        **request, "spec": {**spec, "expirationSeconds": _DEFAULT_SECONDS}
    }  # fmt: skip


def issue_token(
    signer: Signer, store: Store, namespace: str, name: str, request: Json, *, now: str, minor: int
) -> Json:
    """The answer to a TokenRequest for a service account; raise 400, 404, 409 or 422."""
    spec = defaulted_request(request)["spec"]
    seconds = int(spec["expirationSeconds"])
    _require_lifetime(seconds)
    account = store.get("serviceaccount", namespace, name)
    if account is None:
        raise _missing_error("serviceaccounts", name)
    bound = _bound_object(store, account, spec.get("boundObjectRef"))
    audiences = tuple(spec.get("audiences") or ()) or (ISSUER,)
    token = signer.sign_claims(_claims(store, account, bound, audiences, seconds, now, minor))
    metadata = {"creationTimestamp": None, **request.get("metadata", {})}
    if minor >= _DATED_SINCE:
        about = {"name": name, "namespace": namespace, "uid": account["metadata"]["uid"]}
        managers = [{**entry, "subresource": "token"} for entry in metadata.get("managedFields") or ()]
        metadata = {**metadata, **about, "creationTimestamp": f"{now[:19]}Z"}
        if managers:
            metadata["managedFields"] = managers
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": metadata,
        "spec": {**spec, "audiences": list(audiences), "boundObjectRef": spec.get("boundObjectRef")},
        "status": {"token": token, "expirationTimestamp": f"{_timestamp(_epoch(now) + seconds)}Z"},
    }


def _require_lifetime(seconds: int) -> None:
    """Raise 422 for a token lifetime that is too long or too short."""
    problem = ""
    if seconds < _LEAST_SECONDS:
        problem = "may not specify a duration less than 10 minutes"
    elif seconds > _MOST_SECONDS:
        problem = "may not specify a duration larger than 2^32 seconds"
    if problem:
        cause = Cause("FieldValueInvalid", f"Invalid value: {seconds}: {problem}", "spec.expirationSeconds")
        raise invalid("TokenRequest", "authentication.k8s.io", "", [cause])


def account_claims(account: Principal, now: str, identifier: str) -> Json:
    """The claims of a token for a service account that is not bound to anything else and lasts a year."""
    namespace, name = split_username(account.username) or ("", "")
    metadata = {"namespace": namespace, "name": name, "uid": account.uid}
    return {**_common_claims({"metadata": metadata}, (ISSUER,), _YEAR, now), "jti": identifier}


def filled_secret(signer: Signer, secret: Json, account: Json, authority: str) -> Json:
    """A service account's secret with what the token controller adds, where it holds nothing yet."""
    metadata, owner = secret["metadata"], account["metadata"]
    annotations = {**metadata["annotations"], ACCOUNT_UID: owner["uid"]}
    data: Json = {"namespace": _base64(owner["namespace"]), **(secret.get("data") or {})}
    if authority:
        data.setdefault("ca.crt", _base64(authority))
    if not data.get("token"):
        data["token"] = _base64(_secret_token(signer, secret, account))
    return {**secret, "metadata": {**metadata, "annotations": annotations}, "data": data}


def account_of_secret(store: Store, secret: Json) -> Json | None:
    """The service account whose token a secret holds or waits for, if the account exists."""
    annotations = secret["metadata"].get("annotations") or {}
    if secret.get("type") != TOKEN_SECRET:
        return None
    account = store.get("serviceaccount", secret["metadata"]["namespace"], annotations.get(ACCOUNT_NAME, ""))
    if account is None or annotations.get(ACCOUNT_UID) not in {None, account["metadata"]["uid"]}:
        return None
    return account


def account_principal(account: Json) -> Principal:
    """A service account as a principal."""
    metadata = account["metadata"]
    return service_account(metadata["namespace"], metadata["name"], metadata["uid"])


def _secret_token(signer: Signer, secret: Json, account: Json) -> str:
    """A token that is valid as long as the secret and the account exist."""
    metadata = account["metadata"]
    named = {
        "namespace": metadata["namespace"],
        "secret.name": secret["metadata"]["name"],
        "service-account.name": metadata["name"],
        "service-account.uid": metadata["uid"],
    }
    subject = username_of(metadata["namespace"], metadata["name"])
    claims = {f"{_LEGACY}{key}": value for key, value in named.items()}
    return signer.sign_claims({"iss": LEGACY_ISSUER, **claims, "sub": subject})


def credential(claims: Json) -> Credential:
    """The credential that verified claims stand for."""
    if claims["iss"] == LEGACY_ISSUER:
        keys = ("namespace", "secret.name", "service-account.name", "service-account.uid")
        namespace, secret, name, uid = (claims[f"{_LEGACY}{key}"] for key in keys)
        copy = Key("secret", namespace, secret)
        account = Key("serviceaccount", namespace, name)
        return Credential(service_account(namespace, name, uid), (ISSUER,), "", account, (), copy)
    own = claims["kubernetes.io"]
    namespace, name, uid = own["namespace"], own["serviceaccount"]["name"], own["serviceaccount"]["uid"]
    extra: list[tuple[str, tuple[str, ...]]] = []
    if "jti" in claims:
        extra.append((f"{_EXTRA}credential-id", (f"JTI={claims['jti']}",)))
    for noun in ("node", "pod"):
        if noun in own:
            extra += [(f"{_EXTRA}{noun}-name", (own[noun]["name"],)), (f"{_EXTRA}{noun}-uid", (own[noun]["uid"],))]
    return Credential(
        service_account(namespace, name, uid, tuple(extra)),
        tuple(claims["aud"]),
        _timestamp(claims["exp"]),
        Key("serviceaccount", namespace, name),
        tuple((Key(noun, namespace, own[noun]["name"]), own[noun]["uid"]) for noun in ("secret", "pod") if noun in own),
        None,
    )


def accept_token(known: Credential, token: str, store: Store, now: str, audiences: Sequence[str]) -> Authenticated:
    """The account of a token at this time; raise TokenError when the token or what it is bound to is gone."""
    meant = tuple(name for name in audiences if name in known.audiences)
    if not meant:
        own, asked = _quoted_list(known.audiences), _quoted_list(audiences)
        raise TokenError(f"token audiences {own} is invalid for the target audiences {asked}")
    if known.expires and now[: len(_SECONDS)] > known.expires:
        raise TokenError("Token has expired.")
    if known.copy is not None:
        secret = store.get(*known.copy)
        if secret is None or "deletionTimestamp" in secret["metadata"]:
            raise TokenError("Token has been invalidated")
        if held_token(secret) != token:
            raise TokenError("Token does not match server's copy")
    account, uid = store.get(*known.account), known.principal.uid
    if account is None:
        raise TokenError(f"serviceaccounts {go_quote(known.account.name)} not found")
    if account["metadata"]["uid"] != uid:
        raise TokenError(f"ServiceAccount UID ({account['metadata']['uid']}) does not match claim ({uid})")
    for key, bound_uid in known.bound:
        found = store.get(*key)
        if found is None:
            raise TokenError("Token has been invalidated")
        if found["metadata"]["uid"] != bound_uid:
            actual = found["metadata"]["uid"]
            raise TokenError(f"{key.noun.title()} UID ({actual}) does not match claim ({bound_uid})")
    return Authenticated(known.principal, meant)


def held_token(secret: Json) -> str:
    """The token in a service account's secret; empty when it holds none."""
    try:
        return base64.b64decode((secret.get("data") or {}).get("token", ""), validate=True).decode()
    except (ValueError, TypeError):
        return ""


def _common_claims(account: Json, audiences: Sequence[str], seconds: int, now: str) -> Json:
    metadata, moment = account["metadata"], _epoch(now)
    reference = {"name": metadata["name"], "uid": metadata["uid"]}
    return {
        "aud": list(audiences),
        "exp": moment + seconds,
        "iat": moment,
        "iss": ISSUER,
        "kubernetes.io": {"namespace": metadata["namespace"], "serviceaccount": reference},
        "nbf": moment,
        "sub": username_of(metadata["namespace"], metadata["name"]),
    }


def _claims(
    store: Store, account: Json, bound: tuple[str, Json] | None, audiences: Sequence[str], seconds: int, now: str,
    minor: int,
) -> Json:  # fmt: skip
    claims = _common_claims(account, audiences, seconds, now)
    own: Json = claims["kubernetes.io"]
    if bound is not None:
        noun, obj = bound
        own[noun] = {"name": obj["metadata"]["name"], "uid": obj["metadata"]["uid"]}
        if noun == "pod" and seconds == _MOUNTED_SECONDS:
            own["warnafter"] = claims["exp"]
            claims["exp"] += _EXTENDED_SECONDS - seconds
        node = store.get("node", "", obj["spec"].get("nodeName", "")) if noun == "pod" else None
        if node is not None and minor >= _WITH_IDS:
            own["node"] = {"name": node["metadata"]["name"], "uid": node["metadata"]["uid"]}
    if minor >= _WITH_IDS:
        claims["jti"] = store.ids.uid()
    return claims


def _bound_object(store: Store, account: Json, reference: Json | None) -> tuple[str, Json] | None:
    """The pod or secret that a requested token is to be bound to."""
    if reference is None:
        return None
    kind, version, name = (str(reference.get(key) or "") for key in ("kind", "apiVersion", "name"))
    group, _, rest = version.rpartition("/")
    if group or kind not in {"Pod", "Secret"}:
        shown = f"{group}/{rest}, Kind={kind}"
        raise bad_request(f"cannot bind token to object of type {shown}")
    noun = kind.lower()
    found = store.get(noun, account["metadata"]["namespace"], name)
    if found is None:
        raise _missing_error(f"{noun}s", name)
    owner = account["metadata"]["name"]
    if noun == "pod" and found["spec"].get("serviceAccountName", "") != owner:
        text = (
            f"cannot bind token for serviceaccount {go_quote(owner)} to pod running with different serviceaccount name."
        )
        raise bad_request(text)
    uid = reference.get("uid")
    if uid and uid != found["metadata"]["uid"]:
        text = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. The object might have "
            "been deleted and then recreated"
        )
        details = {"name": name, "kind": kind}
        raise ApiError(409, "Conflict", f"Operation cannot be fulfilled on {kind} {go_quote(name)}: {text}", details)
    return noun, found


def _missing_error(plural: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f"{plural} {go_quote(name)} not found", {"name": name, "kind": plural})


def _quoted_list(names: Sequence[str]) -> str:
    return "[" + " ".join(go_quote(name) for name in names) + "]"


def _epoch(now: str) -> int:
    return int(datetime.fromisoformat(now).astimezone(UTC).timestamp())


def _timestamp(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
