"""Acting as another account: which one the headers ask for, and whether the caller may be it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from kubesim.access.principal import (
    ANONYMOUS_NAME,
    AUTHENTICATED,
    UNAUTHENTICATED,
    Extra,
    Principal,
    groups_of,
    split_username,
)
from kubesim.access.rbac import Attributes, decide, forbidden
from kubesim.store import Store

USER, GROUP, UID, EXTRA = "impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-"
_WITH_UID = 22
"""The first release in which a uid can be requested."""
_EXTRA_GROUP = "authentication.k8s.io"


class ImpersonationError(Exception):
    """Headers that ask for a group or other details, but for no user: the server answers 500 with this plain text."""


@dataclass(frozen=True, slots=True)
class Impersonation:
    """The account that a request wants to act as, and the rights that this requires."""

    principal: Principal
    rights: tuple[Attributes, ...]


def impersonation(headers: Mapping[str, str], minor: int) -> Impersonation | None:
    """What the headers ask for, or None; values of a repeated header are separated by line feeds."""
    if not any(name.startswith("impersonate-") for name in headers):
        return None
    account = named_account(headers)
    user, groups, extra = account.username, account.groups, account.extra
    uid = account.uid if minor >= _WITH_UID else ""
    if user:
        return Impersonation(_principal(user, groups, uid, extra), tuple(_rights(user, groups, uid, extra)))
    if groups or extra or uid:
        raise ImpersonationError(f"requested {_references_text(groups, extra, uid)} without impersonating a user")
    return None


def named_account(headers: Mapping[str, str]) -> Principal:
    """The account that the headers name, in whole or in part; empty where they name none."""
    return Principal(
        headers.get(USER, "").partition("\n")[0],
        headers.get(UID, ""),
        tuple(headers[GROUP].split("\n")) if GROUP in headers else (),
        tuple(
            (unquote(name.removeprefix(EXTRA)), tuple(values.split("\n")))
            for name, values in headers.items()
            if name.startswith(EXTRA)
        ),
    )


def require_impersonation(store: Store, caller: Principal, wanted: Impersonation) -> None:
    """Raise 403 when the caller may not act as the account."""
    for right in wanted.rights:
        decision = decide(store, caller, right)
        if not decision.allowed:
            raise forbidden(caller, right, decision.reason)


def _principal(user: str, groups: tuple[str, ...], uid: str, extra: Extra) -> Principal:
    """The account; when no groups are requested, a service account gets those of its namespace."""
    account = split_username(user)
    if not groups and account:
        groups = groups_of(account[0])
    own = UNAUTHENTICATED if user == ANONYMOUS_NAME else AUTHENTICATED
    if not {own, UNAUTHENTICATED} & set(groups):
        groups += (own,)
    return Principal(user, uid, groups, extra)


def _rights(user: str, groups: tuple[str, ...], uid: str, extra: Extra) -> Iterator[Attributes]:
    account = split_username(user)
    if account:
        yield Attributes("impersonate", resource="serviceaccounts", namespace=account[0], name=account[1])
    else:
        yield Attributes("impersonate", resource="users", name=user)
    for group in groups:
        yield Attributes("impersonate", resource="groups", name=group)
    for key, values in extra:
        for value in values:
            yield Attributes("impersonate", _EXTRA_GROUP, "userextras", key, name=value)
    if uid:
        yield Attributes("impersonate", _EXTRA_GROUP, "uids", name=uid)


def _references_text(groups: tuple[str, ...], extra: Extra, uid: str) -> str:
    """Object references as Go prints them."""
    parts = [f"{{Group  {name}    }}" for name in groups]
    parts += [f"{{UserExtra  {value}  {_EXTRA_GROUP}/v1  {key}}}" for key, values in extra for value in values]
    parts += [f"{{UID  {uid}  {_EXTRA_GROUP}/v1  }}"] if uid else []
    return f"[{' '.join(parts)}]"
