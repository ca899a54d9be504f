"""An account as the API server knows it after accepting a credential, and the names that Kubernetes reserves."""

from typing import NamedTuple

from kubesim.names import dns_label_problems, dns_subdomain_problems
from kubesim.status import Json

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"
ANONYMOUS_NAME = "system:anonymous"
_SERVICE_ACCOUNT = "system:serviceaccount:"
_SERVICE_ACCOUNTS = "system:serviceaccounts"

Extra = tuple[tuple[str, tuple[str, ...]], ...]


class Principal(NamedTuple):
    """An account: a name, its groups, and what else the credential says."""

    username: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Extra = ()

    def document(self) -> Json:
        """The account in the form it has in an audit event or a review."""
        document: Json = {}
        if self.username:
            document["username"] = self.username
        if self.uid:
            document["uid"] = self.uid
        if self.groups:
            document["groups"] = list(self.groups)
        if self.extra:
            document["extra"] = {key: list(values) for key, values in self.extra}
        return document


ANONYMOUS = Principal(ANONYMOUS_NAME, groups=(UNAUTHENTICATED,))


def service_account(namespace: str, name: str, uid: str, extra: Extra = ()) -> Principal:
    """The principal of a service account."""
    return Principal(username_of(namespace, name), uid, (*groups_of(namespace), AUTHENTICATED), extra)


def username_of(namespace: str, name: str) -> str:
    """The user name of a service account."""
    return f"{_SERVICE_ACCOUNT}{namespace}:{name}"


def groups_of(namespace: str) -> tuple[str, ...]:
    """The groups of every service account of a namespace."""
    return (_SERVICE_ACCOUNTS, f"{_SERVICE_ACCOUNTS}:{namespace}")


def split_username(username: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user name means; None for any other user name."""
    if not username.startswith(_SERVICE_ACCOUNT):
        return None
    namespace, separator, name = username[len(_SERVICE_ACCOUNT) :].partition(":")
    known = separator and not dns_label_problems(namespace) and not dns_subdomain_problems(name)
    return (namespace, name) if known else None
