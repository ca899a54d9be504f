"""Access control: credentials, roles, impersonation, reviews, and the roles that every cluster starts with.

How the server uses it, in this order:

    principal = authenticator.authenticate(request.headers, store, now)        # None: 401
    wanted = impersonation(request.headers, minor)                               # ImpersonationError: 500, plain text
    require_impersonation(store, principal, wanted)                            # then wanted.principal acts
    decision = decide(store, acting, attributes)                               # else raise forbidden(acting, ...)
    require_no_escalation(store, acting, resource, obj, old, namespace=..., name=...)   # before validation
    review(store, acting, authenticator, obj, namespace=..., now=...)          # is_review(kind), never stored
    issue_token(authenticator.signer, store, namespace, name, defaulted_request(request), now=..., minor=...)

The names in `headers` are lower-case; the values of a repeated header are separated by line feeds, which no header can
contain. `now` is a timestamp as `Surroundings.tick` returns it. Bootstrap objects are a layer that clusters share:
`Store(ids, bootstrap_objects(minor, created, aggregated=...))`. An environment calls `authenticator.plant(store)` once,
after its manifests are stored. For a caller in this process it then calls `authenticator.word_for(claims)`, for one
elsewhere `authenticator.issue(claims)`, with `account_claims(account, now, id)`.
"""

from kubesim.access.authentication import Authenticator
from kubesim.access.bootstrap import bootstrap_objects
from kubesim.access.escalation import require_no_escalation
from kubesim.access.impersonation import (
    ImpersonationError,
    impersonation,
    named_account,
    require_impersonation,
)
from kubesim.access.openid import openid_answer
from kubesim.access.principal import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    UNAUTHENTICATED,
    Principal,
    service_account,
)
from kubesim.access.rbac import (
    RBAC_GROUP,
    Attributes,
    Decision,
    decide,
    forbidden,
    refusal,
)
from kubesim.access.reviews import is_review, review
from kubesim.access.tokens import account_claims, defaulted_request, issue_token

__all__ = [
    "ANONYMOUS",
    "AUTHENTICATED",
    "MASTERS",
    "RBAC_GROUP",
    "UNAUTHENTICATED",
    "Attributes",
    "Authenticator",
    "Decision",
    "ImpersonationError",
    "Principal",
    "account_claims",
    "bootstrap_objects",
    "decide",
    "defaulted_request",
    "forbidden",
    "impersonation",
    "is_review",
    "issue_token",
    "named_account",
    "openid_answer",
    "refusal",
    "require_impersonation",
    "require_no_escalation",
    "review",
    "service_account",
]
