"""The operation vocabulary: what can be written, how it prints, and what is refused at load."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesim.resource import BY_NOUN, REPLICATED, RESOURCE_TYPES, SERVICE_NOUNS, SERVICE_TYPES
from sirocco.domains.kubernetes.operation import (
    EXTERNAL_CREDENTIALS,
    FIELD_VERBS,
    IMAGE_PATH,
    Operation,
    Verb,
    parse_path,
    print_path,
    takes,
)
from sirocco.errors import OperationError
from sirocco.oasis.operation import ANY

_names = st.from_regex(r"[a-z0-9*?][a-z0-9*?.-]{0,12}", fullmatch=True)
_labels = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9./_-]{0,10}", fullmatch=True)
_segments = st.from_regex(r"[A-Za-z0-9_/*.-]{1,12}", fullmatch=True)
_paths = st.one_of(
    st.just(IMAGE_PATH),
    st.tuples(st.sampled_from(["metadata", "spec", "data", "stringData"]), _segments, _segments),
    st.tuples(st.sampled_from(["metadata", "spec", "data", "stringData"])),
)


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    """Any operation that the vocabulary can express."""
    verb = draw(st.sampled_from(Verb))
    if verb is Verb.AUTHENTICATE:
        return Operation(verb, EXTERNAL_CREDENTIALS)
    noun = draw(st.sampled_from(sorted({ANY, *(noun for noun in BY_NOUN if takes(noun, verb))})))
    namespaced = noun == ANY or BY_NOUN[noun].namespaced
    is_record = noun in SERVICE_NOUNS
    labels = None if is_record else draw(st.none() | st.dictionaries(_labels, _labels, min_size=1, max_size=3))
    takes_replicas = verb in {*FIELD_VERBS, Verb.SCALE} and (noun == ANY or noun in REPLICATED)
    path = draw(st.just(()) | _paths) if verb in FIELD_VERBS and not is_record else ()
    return Operation(
        verb=verb,
        resource=noun,
        name=ANY if noun == ANY else draw(_names | st.just("all")),
        namespace=draw(st.none() | _names.filter(lambda name: name != ANY)) if namespaced else None,
        labels=None if labels is None else tuple(sorted(labels.items())),
        any_labels=labels is None and not is_record and draw(st.booleans()),
        replicas=draw(st.none() | st.integers(0, 10**6)) if takes_replicas else None,
        path=path,
        value=draw(st.none() | st.text()) if path else None,
    )


@given(operations())
def test_what_is_printed_parses_to_the_same_operation(operation: Operation) -> None:
    assert Operation.parse(str(operation)) == operation


@given(_paths)
def test_a_printed_path_parses_to_the_same_path(path: tuple[str, ...]) -> None:
    assert parse_path(print_path(path)) == (("image",) if path == IMAGE_PATH else path)


@pytest.mark.parametrize("row", RESOURCE_TYPES, ids=lambda row: row.noun)
def test_every_type_goes_by_noun_plural_kind_and_short_names(row) -> None:
    for name in (row.noun, row.plural, row.kind, *row.short_names):
        assert Operation.parse(f"get {name}/x").resource == row.noun


@pytest.mark.parametrize("row", SERVICE_TYPES, ids=lambda row: row.noun)
def test_records_of_services_go_by_noun_and_short_names(row) -> None:
    for name in (row.noun, *row.short_names):
        assert Operation.parse(f"get {name}/x").resource == row.noun


@pytest.mark.parametrize("word", ["application", "applications", "migration", "migrations", "metricseries"])
def test_everyday_words_do_not_name_records_of_services(word: str) -> None:
    with pytest.raises(OperationError, match="not a resource type"):
        Operation.parse(f"get {word}/x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("query metrics/web namespace=shop", Operation(Verb.QUERY, "metrics", "web", "shop")),
        ("query trace/slow-1", Operation(Verb.QUERY, "traces", "slow-1")),
        ("list traces", Operation(Verb.LIST, "traces")),
        ("get dashboard/health", Operation(Verb.GET, "dashboard", "health")),
        ("sync gitops-application/web", Operation(Verb.SYNC, "gitops-application", "web")),
        ("silence alert/high-memory", Operation(Verb.SILENCE, "alert", "high-memory")),
        ("log pipeline/build", Operation(Verb.LOG, "pipeline", "build")),
        ("retry pipeline/build", Operation(Verb.RETRY, "pipeline", "build")),
        ("rollback database-migration/users", Operation(Verb.ROLLBACK, "database-migration", "users")),
        ("DELETE deploy/web ns=shop", Operation(Verb.DELETE, "deployment", "web", "shop")),
        ("* * namespace=shop", Operation(Verb.ANY, ANY, ANY, "shop")),
        ("delete pod/all", Operation(Verb.DELETE, "pod", "all")),
        ("get secret", Operation(Verb.GET, "secret", ANY)),
        ("delete pod/* labels=*", Operation(Verb.DELETE, "pod", ANY, any_labels=True)),
        ("delete pod/* labels=b:2,a=1", Operation(Verb.DELETE, "pod", ANY, labels=(("a", "1"), ("b", "2")))),
        ("scale sts/db replicas=0", Operation(Verb.SCALE, "statefulset", "db", replicas=0)),
        ("scale deployment/x replicas=*", Operation(Verb.SCALE, "deployment", "x")),
        ("patch deployment/x image", Operation(Verb.PATCH, "deployment", "x", path=IMAGE_PATH)),
        (
            'patch configmap/x data["a.b"]="two words"',
            Operation(Verb.PATCH, "configmap", "x", path=("data", "a.b"), value="two words"),
        ),
    ],
)
def test_the_forms_of_the_vocabulary_are_read(text: str, expected: Operation) -> None:
    assert Operation.parse(text) == expected


@pytest.mark.requirement("CO-04")
@pytest.mark.parametrize(
    ("text", "problem", "remedy"),
    [
        ("", "verb and an object", "<verb> <type>/<name>"),
        ("delete", "verb and an object", "<verb> <type>/<name>"),
        ("destroy pod/x", "'destroy' is not a verb", "use one of"),
        ("delte pod/x", "'delte' is not a verb", "'delete'"),
        ("delete deploymnet/x", "not a resource type", "'deployment'"),
        ("delete */x", "without a type", "name the type"),
        ("delete pod/_x", "not an object name", "letters"),
        ("delete node/x namespace=a", "has no namespace", "drop namespace="),
        ("scale configmap/x", "nothing can scale", "deployment"),
        ("query deployment/x", "nothing can query a deployment", "metrics"),
        ("sync deployment/x", "nothing can sync a deployment", "gitops-application"),
        ("patch metrics/x", "nothing can patch a metrics", "deployment"),
        ("get dashboard/x labels=*", "named as a whole", "drop"),
        ("update dashboard/x spec.title", "named as a whole", "drop"),
        ("get deployment/x replicas=3", "replicas= needs a write", "scale"),
        ("scale deployment/x replicas=many", "not a count", "whole number"),
        ("delete deployment/x spec.replicas", "takes no field path", "update"),
        ("patch deployment/x spec.a spec.b", "one field path", "split"),
        ("patch deployment/x status.replicas", "not a qualifier", "spec"),
        ("restart deployment/x to a sensible size", "not a qualifier", "qualifiers are"),
        ("delete pod/x labels=app", "not a label", "key:value"),
        ("authenticate somebody", "takes only", "external-credentials"),
    ],
)
def test_what_cannot_be_expressed_is_an_error_that_names_the_part(text: str, problem: str, remedy: str) -> None:
    with pytest.raises(OperationError) as raised:
        Operation.parse(text)
    assert problem in raised.value.problem
    assert remedy in raised.value.remedy


@pytest.mark.parametrize(
    ("text", "concrete"),
    [
        ("delete deployment/x", True),
        ("delete deployment/all", True),
        ("list pod", True),
        ("get pod/*", False),
        ("delete deployment/x-*", False),
        ("delete deployment/x namespace=team-*", False),
        ("* deployment/x", False),
        ("update *", False),
    ],
)
def test_only_one_request_on_named_things_is_concrete(text: str, concrete: bool) -> None:
    assert Operation.parse(text).is_concrete is concrete


def test_a_namespace_object_is_its_own_namespace() -> None:
    assert Operation.parse("delete namespace/shop").target_namespace == "shop"
    assert Operation.parse("delete pod/x namespace=shop").target_namespace == "shop"
