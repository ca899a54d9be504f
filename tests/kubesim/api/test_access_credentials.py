"""Credentials: tokens with real claims, what they are bound to, planted ones, and acting as somebody else."""

import base64
import json

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st

from kubesim.access import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    Authenticator,
    ImpersonationError,
    Principal,
    account_claims,
    bootstrap_objects,
    impersonation,
    issue_token,
    openid_answer,
    require_impersonation,
    review,
    service_account,
)
from kubesim.resource import BY_NOUN
from kubesim.status import ApiError
from kubesim.store import Ids, Store

NOW = "2026-01-01T10:00:00.000000Z"
LATER = "2026-01-01T12:00:00.000000Z"
ISSUER = "https://kubernetes.default.svc"
ROOT = Principal("root", "u-0", (MASTERS, AUTHENTICATED))
ANN = Principal("ann", "u-1", ("crew", AUTHENTICATED))


@pytest.fixture
def store():
    store = Store(Ids(1), bootstrap_objects(33, "2026-01-01T00:00:00Z", aggregated=True))
    put(store, "serviceaccount", "bot")
    put(store, "serviceaccount", "boss")
    put(store, "node", "n1", namespace="")
    put(store, "pod", "web", spec={"serviceAccountName": "bot", "nodeName": "n1"})
    put(store, "secret", "pass")
    return store


@pytest.fixture
def authenticator():
    return Authenticator({"tok-ann": ANN}, seed=7)


def put(store, noun, name, namespace="shop", annotations=None, **content):
    """Store an object."""
    row = BY_NOUN[noun]
    place = {"namespace": namespace} if namespace else {}
    metadata = {"name": name, **place, **({"annotations": annotations} if annotations else {})}
    return store.create(row, {"kind": row.kind, "apiVersion": row.api_version, "metadata": metadata, **content}, NOW)


def remove(store, noun, name, namespace="shop"):
    store.remove(BY_NOUN[noun], store.get(noun, namespace, name))


def requested(authenticator, store, *, minor=33, account="bot", **spec):
    """The answer to a TokenRequest."""
    return issue_token(authenticator.signer, store, "shop", account, {"spec": spec}, now=NOW, minor=minor)


def token(*args, **more):
    return requested(*args, **more)["status"]["token"]


def who(authenticator, store, bearer, now=NOW):
    """The account behind a bearer token."""
    return authenticator.authenticate({"authorization": f"Bearer {bearer}"}, store, now)


def parts(bearer):
    """Header and claims of a token."""
    return [json.loads(base64.urlsafe_b64decode(part + "==")) for part in bearer.split(".")[:2]]


def test_a_token_has_the_claims_that_clients_read(authenticator, store):
    header, claims = parts(token(authenticator, store, minor=20, expirationSeconds=900))
    uid = store.get("serviceaccount", "shop", "bot")["metadata"]["uid"]
    assert header == {"alg": "ES256", "kid": authenticator.signer.key_set()["keys"][0]["kid"]}
    assert claims == {
        "aud": [ISSUER],
        "exp": claims["iat"] + 900,
        "iat": 1767261600,
        "iss": ISSUER,
        "kubernetes.io": {"namespace": "shop", "serviceaccount": {"name": "bot", "uid": uid}},
        "nbf": claims["iat"],
        "sub": "system:serviceaccount:shop:bot",
    }
    assert "jti" in parts(token(authenticator, store))[1]


def test_the_published_key_verifies_a_token(authenticator, store):
    content, _, signature = token(authenticator, store).rpartition(".")
    key = authenticator.signer.key_set()["keys"][0]
    x, y = (int.from_bytes(base64.urlsafe_b64decode(key[name] + "=="), "big") for name in "xy")
    raw = base64.urlsafe_b64decode(signature + "==")
    pair = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    public.verify(pair, content.encode(), ec.ECDSA(SHA256()))
    with pytest.raises(InvalidSignature):
        public.verify(pair, content.encode() + b"x", ec.ECDSA(SHA256()))


def test_the_issuer_says_where_its_keys_are(authenticator):
    def answer(path, accept=""):
        return openid_answer(authenticator.signer, path, accept, "host:6443")

    document, kind = answer("/.well-known/openid-configuration")
    assert (document["issuer"], kind) == (ISSUER, "application/json")
    keys = document["jwks_uri"].removeprefix("https://host:6443")
    assert answer(keys, "application/jwk-set+json;q=1") == (authenticator.signer.key_set(), "application/jwk-set+json")
    assert answer("/openid/v2") is None
    with pytest.raises(ApiError) as caught:
        answer(keys, "application/json")
    assert caught.value.code == 406


def test_an_issued_token_works_as_the_service_account(authenticator, store):
    principal = who(authenticator, store, token(authenticator, store, minor=20))
    uid = store.get("serviceaccount", "shop", "bot")["metadata"]["uid"]
    groups = ["system:serviceaccounts", "system:serviceaccounts:shop", AUTHENTICATED]
    assert principal.document() == {"username": "system:serviceaccount:shop:bot", "uid": uid, "groups": groups}


def test_a_token_bound_to_a_pod_tells_which(authenticator, store):
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "web"}
    old = who(authenticator, store, token(authenticator, store, minor=20, boundObjectRef=reference)).document()
    uid = store.get("pod", "shop", "web")["metadata"]["uid"]
    assert old["extra"] == {
        "authentication.kubernetes.io/pod-name": ["web"],
        "authentication.kubernetes.io/pod-uid": [uid],
    }
    new = who(authenticator, store, token(authenticator, store, minor=33, boundObjectRef=reference)).document()["extra"]
    assert new["authentication.kubernetes.io/node-name"] == ["n1"]
    assert new["authentication.kubernetes.io/credential-id"][0].startswith("JTI=")


def test_a_mounted_token_lasts_longer_than_it_says(authenticator, store):
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "web"}
    answer = requested(authenticator, store, boundObjectRef=reference, expirationSeconds=3607)
    claims = parts(answer["status"]["token"])[1]
    assert answer["status"]["expirationTimestamp"] == "2026-01-01T11:00:07Z"
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param(lambda store: remove(store, "serviceaccount", "bot"), id="the account"),
        pytest.param(lambda store: remove(store, "secret", "pass"), id="what it is bound to"),
        pytest.param(lambda store: (remove(store, "serviceaccount", "bot"), put(store, "serviceaccount", "bot")), id="another account of that name"),
        pytest.param(lambda store: (remove(store, "secret", "pass"), put(store, "secret", "pass")), id="another secret of that name"),
    ],
)  # fmt: skip
def test_a_token_goes_with_what_it_is_bound_to(authenticator, store, gone):
    bearer = token(authenticator, store, boundObjectRef={"kind": "Secret", "apiVersion": "v1", "name": "pass"})
    assert who(authenticator, store, bearer)
    gone(store)
    assert who(authenticator, store, bearer) is None


def test_a_token_expires(authenticator, store):
    bearer = token(authenticator, store)
    assert who(authenticator, store, bearer)
    assert who(authenticator, store, bearer, LATER) is None


def test_a_token_for_another_audience_is_no_credential_here(authenticator, store):
    assert who(authenticator, store, token(authenticator, store, audiences=["vault"])) is None
    assert who(authenticator, store, token(authenticator, store, audiences=["vault", ISSUER]))


def test_a_token_of_one_environment_opens_nothing_in_another(authenticator, store):
    bearer = token(authenticator, store)
    assert who(Authenticator(seed=8), store, bearer) is None
    assert who(Authenticator(seed=7), store, bearer)


def test_the_same_seed_gives_the_same_tokens(store):
    account = {"namespace": "shop", "serviceaccount": {"name": "bot", "uid": "u"}}
    drawn = [Authenticator(seed=seed).signer.sign_claims({"kubernetes.io": account}) for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_token_of_an_environment_lasts_a_year(authenticator, store):
    uid = store.get("serviceaccount", "shop", "bot")["metadata"]["uid"]
    account = service_account("shop", "bot", uid)
    bearer = authenticator.issue(account_claims(account, NOW, store.ids.uid()))
    for judge in (authenticator, Authenticator(seed=7)):
        assert who(judge, store, bearer, "2026-12-31T00:00:00Z").username == account.username
        assert who(judge, store, bearer, "2027-01-02T00:00:00Z") is None


def test_a_word_in_the_place_of_a_token_lives_and_dies_like_one(authenticator, store):
    uid = store.get("serviceaccount", "shop", "bot")["metadata"]["uid"]
    account = service_account("shop", "bot", uid)
    word = authenticator.word_for(account_claims(account, NOW, store.ids.uid()))
    assert who(authenticator, store, word, "2026-12-31T00:00:00Z").username == account.username
    assert who(authenticator, store, word, "2027-01-02T00:00:00Z") is None
    assert who(Authenticator(seed=7), store, word) is None
    remove(store, "serviceaccount", "bot")
    assert who(authenticator, store, word) is None


def forged(bearer, **changed):
    header, _claims, signature = bearer.split(".")
    payload = {**parts(bearer)[1], **changed}
    encoded = base64.urlsafe_b64encode(json.dumps(payload).encode()).rstrip(b"=").decode()
    return f"{header}.{encoded}.{signature}"


def test_forged_claims_are_refused(authenticator, store):
    bearer = token(authenticator, store)
    boss = {
        "namespace": "shop",
        "serviceaccount": {"name": "boss", "uid": store.get("serviceaccount", "shop", "boss")["metadata"]["uid"]},
    }
    for text in (
        forged(bearer, **{"kubernetes.io": boss}),
        bearer[:-4] + "AAAA",
        bearer + "x",
        bearer.rpartition(".")[0] + ".",
    ):
        assert who(authenticator, store, text) is None


@given(
    st.text()
    | st.binary().map(lambda raw: ".".join(base64.urlsafe_b64encode(part).decode() for part in (raw, raw, raw)))
)
def test_any_text_is_only_a_wrong_token(text):
    assert who(Authenticator(seed=7), Store(Ids(1)), f"x{text}") in {None, ANONYMOUS}


@pytest.mark.parametrize(
    ("spec", "code", "text"),
    [
        ({"expirationSeconds": 10}, 422, "Invalid value: 10: may not specify a duration less than 10 minutes"),
        ({"expirationSeconds": 1 << 33}, 422, "Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds"),
        ({"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "no"}}, 404, 'pods "no" not found'),
        ({"boundObjectRef": {"kind": "ConfigMap", "apiVersion": "v1", "name": "no"}}, 400, "cannot bind token to object of type /v1, Kind=ConfigMap"),
        ({"boundObjectRef": {"kind": "Pod", "apiVersion": "apps/v1"}}, 400, "cannot bind token to object of type apps/v1, Kind=Pod"),
        ({"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "pass", "uid": "x"}}, 409, "does not match the UID in record"),
    ],
)  # fmt: skip
def test_a_token_request_can_be_refused(authenticator, store, spec, code, text):
    with pytest.raises(ApiError) as caught:
        requested(authenticator, store, **spec)
    assert caught.value.code == code
    assert text in str(caught.value)


def test_a_token_is_not_bound_to_the_pod_of_another_account(authenticator, store):
    with pytest.raises(ApiError) as caught:
        requested(
            authenticator, store, account="boss", boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "web"}
        )
    assert (
        str(caught.value)
        == 'cannot bind token for serviceaccount "boss" to pod running with different serviceaccount name.'
    )


def token_secret(store, name="boss-token", account="boss", **data):
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    annotations = {"kubernetes.io/service-account.name": account}
    return put(store, "secret", name, annotations=annotations, type="kubernetes.io/service-account-token", data=encoded)


def held(store, name="boss-token"):
    return base64.b64decode(store.get("secret", "shop", name)["data"]["token"]).decode()


def test_a_planted_secret_gets_a_token_that_works_while_it_is_there(authenticator, store):
    token_secret(store)
    authenticator.plant(store, "PEM")
    stored = store.get("secret", "shop", "boss-token")
    assert {key: base64.b64decode(value) for key, value in stored["data"].items() if key != "token"} == {
        "namespace": b"shop",
        "ca.crt": b"PEM",
    }
    assert parts(held(store))[1]["kubernetes.io/serviceaccount/service-account.name"] == "boss"
    bearer = held(store)
    assert who(authenticator, store, bearer).username == "system:serviceaccount:shop:boss"
    assert who(Authenticator(seed=8), store, bearer) is None
    stored = store.get("secret", "shop", "boss-token")
    store.update(BY_NOUN["secret"], stored, {**stored, "data": {}})
    assert who(authenticator, store, bearer) is None
    store.update(BY_NOUN["secret"], store.get("secret", "shop", "boss-token"), stored)
    assert who(authenticator, store, bearer)
    remove(store, "secret", "boss-token")
    assert who(authenticator, store, bearer) is None


def test_a_token_that_a_manifest_gives_works_as_it_is(authenticator, store):
    token_secret(store, token="hunter2")
    authenticator.plant(store)
    assert held(store) == "hunter2"
    assert who(authenticator, store, "hunter2").username == "system:serviceaccount:shop:boss"
    remove(store, "serviceaccount", "boss")
    assert who(authenticator, store, "hunter2") is None


def test_a_secret_that_a_client_writes_makes_nobody_somebody_else(authenticator, store):
    token_secret(store, "before", token="hunter2")
    authenticator.plant(store)
    token_secret(store, "mine", token="let-me-in")
    assert who(authenticator, store, "let-me-in") is None
    old = store.get("secret", "shop", "before")
    store.update(BY_NOUN["secret"], old, {**old, "data": {**old["data"], "token": base64.b64encode(b"new").decode()}})
    assert who(authenticator, store, "new") is None
    assert who(authenticator, store, "hunter2") is None


def test_other_secrets_are_no_credentials(authenticator, store):
    owner = {"kubernetes.io/service-account.name": "boss"}
    put(store, "secret", "opaque", annotations=owner, type="Opaque", data={"token": base64.b64encode(b"tok").decode()})
    token_secret(store, "lost", account="nobody", token="tok")
    authenticator.plant(store)
    assert who(authenticator, store, "tok") is None


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Bearer tok-ann", ANN),
        ("bEARER tok-ann junk", ANN),
        ("  bearer tok-ann", ANN),
        ("Bearer  tok-ann", ANONYMOUS),
        ("Bearer", ANONYMOUS),
        ("Bearer ", ANONYMOUS),
        ("Basic dG9rOnRvaw==", ANONYMOUS),
        ("", ANONYMOUS),
        ("Bearer nope", None),
        ("Bearer a.b.c", None),
    ],
)
def test_the_authorization_header_is_read_as_the_server_does(authenticator, store, header, expected):
    assert authenticator.authenticate({"authorization": header}, store, NOW) == expected


def test_a_websocket_can_carry_the_token_as_a_protocol(authenticator, store):
    encoded = base64.urlsafe_b64encode(b"tok-ann").rstrip(b"=").decode()
    header = f"v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.{encoded}"
    assert authenticator.authenticate({"sec-websocket-protocol": header}, store, NOW) == ANN
    broken = "base64url.bearer.authorization.k8s.io.%%%"
    assert authenticator.authenticate({"sec-websocket-protocol": broken}, store, NOW) is None


def acting(store, headers, principal=ROOT, minor=33):
    wanted = impersonation(headers, minor)
    if wanted is None:
        return None
    require_impersonation(store, principal, wanted)
    return wanted.principal


@pytest.mark.parametrize(
    ("headers", "groups"),
    [
        ({"impersonate-user": "eve"}, (AUTHENTICATED,)),
        ({"impersonate-user": "eve", "impersonate-group": "a\nb"}, ("a", "b", AUTHENTICATED)),
        ({"impersonate-user": "eve", "impersonate-group": AUTHENTICATED}, (AUTHENTICATED,)),
        ({"impersonate-user": "eve", "impersonate-group": "system:unauthenticated"}, ("system:unauthenticated",)),
        ({"impersonate-user": "system:anonymous"}, ("system:unauthenticated",)),
        ({"impersonate-user": "system:serviceaccount:shop:bot"},
         ("system:serviceaccounts", "system:serviceaccounts:shop", AUTHENTICATED)),
        ({"impersonate-user": "system:serviceaccount:shop:bot", "impersonate-group": "a"}, ("a", AUTHENTICATED)),
        ({"impersonate-user": "system:serviceaccount:No:bot"}, (AUTHENTICATED,)),
    ],
)  # fmt: skip
def test_an_impersonated_account_has_the_groups_of_the_headers_or_its_own(store, headers, groups):
    assert acting(store, headers) == Principal(headers["impersonate-user"], "", groups)


def test_uid_and_extra_can_be_impersonated_too(store):
    headers = {"impersonate-user": "eve", "impersonate-uid": "7", "impersonate-extra-acme%2fteam": "a\nb"}
    assert acting(store, headers) == Principal("eve", "7", (AUTHENTICATED,), (("acme/team", ("a", "b")),))
    assert acting(store, headers, minor=20).uid == ""


def test_without_such_headers_the_caller_acts_for_itself(store):
    assert acting(store, {"authorization": "x"}) is None
    assert acting(store, {"impersonate-user": ""}) is None


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        ({"impersonate-user": "eve"}, 'users "eve" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope'),
        ({"impersonate-user": "system:serviceaccount:shop:boss"},
         'serviceaccounts "boss" is forbidden: User "ann" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "shop"'),
        ({"impersonate-user": "bob", "impersonate-group": MASTERS},
         f'groups "{MASTERS}" is forbidden: User "ann" cannot impersonate resource "groups" in API group "" at the cluster scope'),
        ({"impersonate-user": "bob", "impersonate-extra-scope": "all"},
         'userextras.authentication.k8s.io "all" is forbidden: User "ann" cannot impersonate resource "userextras/scope" in API group "authentication.k8s.io" at the cluster scope'),
        ({"impersonate-user": "bob", "impersonate-uid": "7"},
         'uids.authentication.k8s.io "7" is forbidden: User "ann" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope'),
    ],
)  # fmt: skip
def test_every_part_of_an_impersonated_account_takes_its_own_right(store, headers, text):
    rules = [{"apiGroups": [""], "resources": ["users"], "resourceNames": ["bob"], "verbs": ["impersonate"]}]
    put(store, "clusterrole", "as-bob", namespace="", rules=rules)
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "as-bob"}
    put(
        store,
        "clusterrolebinding",
        "as-bob",
        namespace="",
        roleRef=reference,
        subjects=[{"kind": "User", "name": "ann"}],
    )
    assert acting(store, {"impersonate-user": "bob"}, ANN).username == "bob"
    with pytest.raises(ApiError) as caught:
        acting(store, headers, ANN)
    assert (caught.value.code, str(caught.value)) == (403, text)


@pytest.mark.parametrize(
    ("headers", "printed"),
    [
        ({"impersonate-group": "x"}, "requested [{Group  x    }] without impersonating a user"),
        (
            {"impersonate-extra-foo": "x"},
            "requested [{UserExtra  x  authentication.k8s.io/v1  foo}] without impersonating a user",
        ),
    ],
)
def test_a_group_without_a_user_cannot_be_impersonated(store, headers, printed):
    with pytest.raises(ImpersonationError) as caught:
        acting(store, headers)
    assert str(caught.value) == printed


def asked(store, kind, spec, principal=ANN, *, authenticator=None, namespace="", metadata=()):
    """The answer to a review."""
    group = "authentication.k8s.io" if kind in {"TokenReview", "SelfSubjectReview"} else "authorization.k8s.io"
    obj = {"kind": kind, "apiVersion": f"{group}/v1", "metadata": dict(metadata), "spec": spec}
    return review(store, principal, authenticator or Authenticator(), obj, namespace=namespace, now=NOW, minor=20)


def test_a_self_review_answers_for_the_caller(store):
    yes = asked(store, "SelfSubjectAccessReview", {"nonResourceAttributes": {"path": "/version", "verb": "get"}})
    assert yes["metadata"] == {"creationTimestamp": None}
    assert yes["status"]["allowed"]
    assert yes["status"]["reason"].startswith("RBAC: allowed by ClusterRoleBinding")
    no = asked(store, "SelfSubjectAccessReview", {"resourceAttributes": {"verb": "get", "resource": "pods"}})
    assert no["status"] == {"allowed": False}
    all_of_it = asked(
        store, "SelfSubjectAccessReview", {"resourceAttributes": {"verb": "*", "group": "*", "resource": "*"}}, ROOT
    )
    assert all_of_it["status"] == {"allowed": True}


def test_a_subject_review_answers_for_the_subject(store):
    attributes = {"resourceAttributes": {"verb": "list", "resource": "pods"}}
    assert asked(store, "SubjectAccessReview", {"user": "eve", **attributes}, ROOT)["status"] == {"allowed": False}
    for groups in ("groups", "group"):
        assert asked(store, "SubjectAccessReview", {groups: [MASTERS], **attributes})["status"] == {"allowed": True}


def test_a_rules_review_lists_what_applies_in_the_namespace(store):
    status = asked(store, "SelfSubjectRulesReview", {"namespace": "shop"})["status"]
    assert status["incomplete"] is False
    assert {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]} in status[
        "resourceRules"
    ]
    assert all(rule["nonResourceURLs"] for rule in status["nonResourceRules"])


def test_a_self_subject_review_says_who_asks(store):
    assert asked(store, "SelfSubjectReview", {})["status"]["userInfo"] == ANN.document()


def test_a_token_review_says_whose_token_it_is(authenticator, store):
    bearer = token(authenticator, store, minor=20, audiences=["vault", "x"])

    def status(text, **spec):
        return asked(store, "TokenReview", {"token": text, **spec}, ROOT, authenticator=authenticator)["status"]

    good = status(bearer, audiences=["x", "vault"])
    assert (good["authenticated"], good["audiences"]) == (True, ["x", "vault"])
    assert good["user"]["username"] == "system:serviceaccount:shop:bot"
    assert status("tok-ann")["user"] == ANN.document()
    assert status("nonsense") == {"user": {}, "error": "invalid bearer token"}
    problem = f'token audiences ["vault" "x"] is invalid for the target audiences ["{ISSUER}"]'
    assert status(bearer)["error"] == f"[invalid bearer token, {problem}]"
    assert status(forged(bearer, exp=1))["error"].endswith("error in cryptographic primitive]")
    remove(store, "serviceaccount", "bot")
    assert status(bearer, audiences=["x"])["error"] == '[invalid bearer token, serviceaccounts "bot" not found]'


ONE = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
RESOURCE = {"resourceAttributes": {"verb": "get", "resource": "pods"}}
PATH = {"nonResourceAttributes": {"path": "/x", "verb": "get"}}


@pytest.mark.parametrize(
    ("kind", "spec", "metadata", "code", "text"),
    [
        ("SelfSubjectAccessReview", {}, {}, 422, f'.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: "null": {ONE}'),
        ("SelfSubjectAccessReview", {**RESOURCE, **PATH}, {}, 422,
         ('.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: authorization.NonResourceAttributes{Path:"/x", Verb:"get"}: '
         "cannot be specified in combination with resourceAttributes")),
        ("SubjectAccessReview", RESOURCE, {}, 422, '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified'),
        ("LocalSubjectAccessReview", {"user": "a", **RESOURCE}, {"namespace": "shop"}, 422,
         '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace'),
        ("LocalSubjectAccessReview", {"user": "a", **RESOURCE}, {}, 400, "spec.resourceAttributes.namespace must match namespace: shop"),
        ("LocalSubjectAccessReview", RESOURCE, {}, 422, '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified'),
        ("SelfSubjectRulesReview", {}, {}, 400, "no namespace on request"),
        ("TokenReview", {}, {}, 400, "namespace is not allowed on this type: shop"),
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_asked_is_refused(store, kind, spec, metadata, code, text):
    with pytest.raises(ApiError) as caught:
        asked(store, kind, spec, ROOT, namespace="shop", metadata=metadata)
    assert (caught.value.code, str(caught.value)) == (code, text)


def test_metadata_of_a_review_must_be_empty_and_is_printed_like_a_go_struct(store):
    managed = [{"manager": "m", "operation": "Update", "apiVersion": "authorization.k8s.io/v1"}]
    assert asked(store, "SelfSubjectAccessReview", RESOURCE, metadata={"managedFields": managed})
    metadata = {"name": "x", "labels": {"b": "2", "a": "1"}, "managedFields": managed}
    with pytest.raises(ApiError) as caught:
        asked(store, "SelfSubjectAccessReview", RESOURCE, metadata=metadata)
    text = str(caught.value)
    assert 'metadata: Invalid value: v1.ObjectMeta{Name:"x", GenerateName:"", Namespace:""' in text
    assert 'Labels:map[string]string{"a":"1", "b":"2"}, Annotations:map[string]string(nil)' in text
    assert 'ManagedFields:[]v1.ManagedFieldsEntry{v1.ManagedFieldsEntry{Manager:"m", Operation:"Update"' in text
    assert text.endswith(": must be empty")
