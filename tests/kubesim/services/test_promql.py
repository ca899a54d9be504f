"""PromQL: what a person who looks into a problem types, worked out by hand; and what cannot be read."""

import math
from itertools import pairwise

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from kubesim.services.prometheus.errors import QueryError
from kubesim.services.prometheus.parser import parse
from kubesim.services.prometheus.patterns import pattern
from kubesim.services.prometheus.series import Series
from kubesim.services.prometheus.tokens import duration
from kubesim.services.prometheus.values import text_of
from kubesim.services.visit import Subject
from service_builders import NOW, Asked

MINUTE, HOUR = 60.0, 3600.0


@pytest.fixture
def shop(asked: Asked) -> Asked:
    asked.series("web", "error_rate", (-HOUR, 0.5), (-20 * MINUTE, 8.0), tier="front")
    asked.series("api", "error_rate", (-HOUR, 2.0), tier="back")
    asked.series("db", "error_rate", (-HOUR, 4.0), tier="back")
    asked.series("web", "http_requests_total", (-HOUR, 0.0), (0, 36000.0), code="200")
    asked.series("web", "http_requests_total", (-HOUR, 0.0), (0, 720.0), code="500")
    asked.series("web", "errors_total", (-2 * HOUR, 0.0), (-HOUR, 7200.0))
    asked.series("web", "restarts_total", (-HOUR, 10.0), (-10 * MINUTE, 10.0), (-5 * MINUTE, 2.0))
    asked.series("web", "memory", *((at * MINUTE, 1000.0 + 10 * at) for at in range(-60, 1)))
    for bound, count in (("0.1", 50.0), ("0.5", 90.0), ("1", 100.0), ("+Inf", 100.0)):
        asked.series("web", "latency_bucket", (-HOUR, count), le=bound)
    asked.series("web", "limit", (-HOUR, 10.0))
    asked.series("api", "limit", (-HOUR, 1.0))
    return asked


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("error_rate", {"web": 8, "api": 2, "db": 4}),
        ('error_rate{service="web"}', {"web": 8}),
        ('error_rate{service!="web"}', {"api": 2, "db": 4}),
        ('error_rate{service=~"w.b|d.*"}', {"web": 8, "db": 4}),
        ('error_rate{service!~"w.*"}', {"api": 2, "db": 4}),
        ('{__name__="error_rate",tier="front"}', {"web": 8}),
        ("error_rate offset 30m", {"web": 0.5, "api": 2, "db": 4}),
        ("error_rate offset 2h", {}),
        ("error_rate > 3", {"web": 8, "db": 4}),
        ("error_rate > bool 3", {"web": 1, "api": 0, "db": 1}),
        ("3 < error_rate", {"web": 8, "db": 4}),
        ("error_rate * 2", {"web": 16, "api": 4, "db": 8}),
        ("-error_rate", {"web": -8, "api": -2, "db": -4}),
        ("error_rate - error_rate offset 30m", {"web": 7.5, "api": 0, "db": 0}),
        ("error_rate > on(service) limit", {"api": 2}),
        ("error_rate / on(service) limit", {"web": 0.8, "api": 2}),
        ('error_rate and on(service) limit{service="api"}', {"api": 2}),
        ("error_rate unless on(service) limit", {"db": 4}),
        ("limit or on(service) error_rate", {"web": 10, "api": 1, "db": 4}),
        ("topk(2, error_rate)", {"web": 8, "db": 4}),
        ("bottomk(1, error_rate)", {"api": 2}),
        ("sum by (service) (rate(http_requests_total[5m]))", {"web": 10.2}),
        # A counter goes on after its last sample; one that was reset, or has one sample only, stands still.
        ("rate(errors_total[5m])", {"web": 2}),
        ("errors_total", {"web": 14400}),
        ("restarts_total", {"web": 2}),
        ("max_over_time(error_rate[1h])", {"web": 8, "api": 2, "db": 4}),
        ("min_over_time(error_rate[1h])", {"web": 0.5, "api": 2, "db": 4}),
        ('last_over_time(error_rate{service="web"}[5m])', {"web": 8}),
        ('count_over_time(error_rate{service="web"}[5m])', {"web": 20}),
        ('changes(error_rate{service="web"}[1h])', {"web": 1}),
        ("clamp_max(error_rate, 3)", {"web": 3, "api": 2, "db": 3}),
        ('round(error_rate{service="web"} / 3, 0.5)', {"web": 2.5}),
        ("histogram_quantile(0.95, sum by (le, service) (latency_bucket))", {"web": 0.75}),
        ("resets(restarts_total[15m])", {"web": 1}),
        ("increase(restarts_total[15m])", {"web": 2 * 900 / 885}),
        ('label_replace(error_rate{service="web"}, "service", "renamed-$1", "service", "(.*)")', {"renamed-web": 8}),
    ],
)  # fmt: skip
def test_a_query_gives_what_it_gives_by_hand(shop: Asked, query: str, expected: dict[str, float]) -> None:
    assert shop.values(query) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sum(error_rate)", 14),
        ("avg(error_rate)", 14 / 3),
        ("min(error_rate)", 2),
        ("max(error_rate)", 8),
        ("count(error_rate)", 3),
        ('sum without (service, tier, namespace) (error_rate{tier="back"})', 6),
        ("stddev(error_rate)", math.sqrt(56 / 9)),
        ("quantile(0.5, error_rate)", 4),
        ('sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))', 0.2 / 10.2),
        ('irate(http_requests_total{code="200"}[1m])', 10),
        ('increase(http_requests_total{code="200"}[10m])', 6000),
        ("delta(memory[10m])", 100 * 600 / 585),
        ("deriv(memory[10m])", 1 / 6),
        ("predict_linear(memory[30m], 3600)", 1600),
        ('avg_over_time(error_rate{service="web"}[40m])', (0.5 * 79 + 8 * 81) / 160),
        ("max_over_time(sum(error_rate)[1h:5m])", 14),
        ("scalar(sum(error_rate)) + 1", 15),
        ("count(error_rate) by (tier) > 1", 2),
        ("absent(nothing)", 1),
        ("1 + 2 * 3 ^ 2 ^ 0", 7),
        ("-2 ^ 2", -4),
        ("7 % 4", 3),
        ("1 / 0", math.inf),
        ("2 > bool 1", 1),
        ("time()", NOW),
        ("vector(3)", 3),
        ("0x1F + 1e1", 41),
    ],
)
def test_a_query_gives_one_number(shop: Asked, query: str, expected: float) -> None:
    assert shop.number(query) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("", "1:1: parse error: no expression found in input"),
        ("error_rate{", '1:12: parse error: unexpected end of input in label matching, expected identifier or "}"'),
        ("error_rate[", "1:12: parse error: unexpected end of input in range, expected duration"),
        ("error_rate[5]", '1:12: parse error: unexpected number "5" in range, expected duration'),
        ("sum(", "1:5: parse error: unexpected end of input"),
        ("sum(error_rate))", '1:16: parse error: unexpected ")"'),
        ("frobnicate(x)", '1:1: parse error: unknown function with name "frobnicate"'),
        ("rate(x)", 'expected type range vector in call to function "rate", got instant vector'),
        ("rate(x[5m], 1)", 'expected 1 argument(s) in call to "rate", got 2'),
        ("sum(x[5m])", "expected type instant vector in aggregation expression, got range vector"),
        ("topk(x, y)", "expected type scalar in aggregation parameter topk, got instant vector"),
        ("1 == 1", "comparisons between scalars must use BOOL modifier"),
        ("1 and x", 'set operator "and" not allowed in binary scalar expression'),
        ("{}", "vector selector must contain at least one non-empty matcher"),
        ('{job=~".*"}', "vector selector must contain at least one non-empty matcher"),
        ('x{a=~"("}', "error parsing regexp: missing closing )"),
        ('x{a="b}', "unterminated quoted string"),
        ("x offset", "expected duration"),
        ("sum(x) offset 5m", "offset modifier must be preceded by"),
        ("x[5m][5m]", "ranges only allowed for vector selectors"),
        ("-x[5m]", "unary expression only allowed"),
        ("x + y[5m]", "binary expression must contain only scalar and instant vector types"),
        ("x + bool y", "bool modifier can only be used on comparison operators"),
        ("x $ y", "unexpected character: '$'"),
        ("1m30", "bad number or duration syntax"),
        ("(" * 500, "nests too deeply"),
        ("+".join("x" * 500), "nests too deeply"),
        ("x" * 30000, "longer than"),
    ],
)
def test_what_cannot_be_read_is_refused_in_prometheus_words(shop: Asked, query: str, problem: str) -> None:
    response = shop.ask("metrics/api/v1/query", {"query": query})
    assert (response.status, response.body["status"], response.body["errorType"]) == (400, "error", "bad_data")
    assert response.body["error"].startswith('invalid parameter "query": ')
    assert problem in response.body["error"]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("error_rate + on(tier) error_rate", "many-to-many matching not allowed"),
        ("sum by (tier) (error_rate) + on() limit", "many-to-many matching not allowed"),
        ('label_replace(error_rate, "service", "x", "service", ".*")', "vector cannot contain metrics with the same labelset"),
        ('label_replace(error_rate, "service", "$1", "service", "(.).*")', "label_replace cannot take parts"),
        ("sum(error_rate) by (service) - ignoring(service) group_left limit", "many-to-many"),
        ("error_rate * on(namespace) sum by (namespace) (limit)", "many-to-one matching must be explicit"),
        ("rate(http_requests_total[5m])[100d:1s]", "too many samples"),
        ("topk(1/0, error_rate)", "overflows int64"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_an_execution_error(shop: Asked, query: str, problem: str) -> None:
    response = shop.ask("metrics/api/v1/query", {"query": query})
    assert (response.status, response.body["errorType"]) == (422, "execution")
    assert problem in response.body["error"]


def test_many_to_one_takes_labels_over(shop: Asked) -> None:
    query = 'error_rate{tier="back"} * on(namespace) group_left(le) sum by (namespace, le) (latency_bucket{le="1"})'
    found = shop.query(query)
    assert {(one["metric"]["service"], one["metric"]["le"], one["value"][1]) for one in found} == {
        ("api", "1", "200"), ("db", "1", "400"),
    }  # fmt: skip


def test_elements_that_cannot_be_told_apart_are_an_error(shop: Asked) -> None:
    response = shop.ask("metrics/api/v1/query", {"query": 'abs({service="web",le=~".+|"})'})
    assert response.status == 422
    assert response.body["error"] == "vector cannot contain metrics with the same labelset"


def test_a_range_vector_shows_its_points(shop: Asked) -> None:
    (one,) = shop.query('error_rate{service="web"}[1m] offset 19m45s')
    assert [value for _, value in one["values"]] == ["0.5", "0.5", "8", "8"]
    times = [time for time, _ in one["values"]]
    assert [after - before for before, after in pairwise(times)] == [15, 15, 15]


@given(st.text(alphabet='abc01{}[]()=~!"+-*/^%,.:5ms sumrateby', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text)
    except QueryError as error:
        event(str(error).partition(":")[0][:20])


@pytest.mark.parametrize(
    ("regex", "matching", "other"),
    [
        ("", [""], ["a"]),
        ("web", ["web"], ["webs", "aweb", "we"]),
        ("w.b", ["web", "w-b"], ["wb"]),
        ("a*b+c?", ["b", "aabbc"], ["a", "bcc"]),
        ("(?:api|web)-[0-9]{2,3}", ["api-12", "web-123"], ["api-1", "db-12"]),
        ("[^a-c]x", ["dx"], ["ax"]),
        (r"\d+\.\w\S", ["12.a!"], ["12xa!", "1.a "]),
        ("a|b|", ["a", "b", ""], ["ab"]),
        ("(?i)Web", ["WEB", "web"], ["wxb"]),
        ("x{2}", ["xx"], ["x", "xxx"]),
        ("x{1,}", ["x", "xxxx"], [""]),
        ("[]a]+", ["]a"], ["b"]),
        (r"[\d-]+", ["1-2"], ["a"]),
        ("()*", [""], ["a"]),
        ("^web$", ["web"], ["^web$"]),
        ("a{,2}", ["a{,2}"], ["aa"]),
    ],
)
def test_a_pattern_matches_the_whole_text(regex: str, matching: list[str], other: list[str]) -> None:
    compiled = pattern(regex)
    assert [text for text in matching if not compiled.matches(text)] == []
    assert [text for text in other if compiled.matches(text)] == []


@pytest.mark.parametrize("regex", ["(a+)+b", "(a|aa)*c", "(.*.*.*.*.*.*.*.*)*x", "((((a{1,9}){1,9}){1,9}))b"])
def test_no_pattern_takes_for_ever(regex: str) -> None:
    assert not pattern(regex).matches("a" * 2000)


@pytest.mark.parametrize(
    "regex", ["(", ")", "[a", "*", "a{5,2}", r"\q", "(?=a)", "[z-a]", "\\", "((a{900}){900}){900}", "(" * 99]
)
def test_a_broken_pattern_is_an_error(regex: str) -> None:
    with pytest.raises(QueryError, match="error parsing regexp"):
        pattern(regex)


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        ("(", "missing closing ): `(`"),
        ("[a", "missing closing ]: `[a`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("a{5,2}", "invalid repeat count: `{5,2}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("\\", "trailing backslash at end of expression"),
    ],
)
def test_a_broken_pattern_is_refused_in_the_words_of_go(regex: str, words: str) -> None:
    with pytest.raises(QueryError) as refused:
        pattern(regex)
    assert str(refused.value) == f"error parsing regexp: {words}"


@pytest.mark.parametrize(
    ("regex", "text", "expected"),
    [
        (r"\bweb\b.*", "web-1", True),
        ("[[:alpha:]]+", "web1", False),
        (r"\pL+", "é", True),
        ("(?i:WEB)-1", "web-1", True),
        ("a^b", "ab", False),
        (".", "\ud800", True),
        ("web", "web-1", False),
    ],
)
def test_patterns_are_those_of_re2_and_match_whole_texts(regex: str, text: str, expected: bool) -> None:
    assert pattern(regex).matches(text) is expected


@given(st.text(alphabet="ab.*+?|()[]^{}1,\\d", max_size=12), st.text(alphabet="ab1", max_size=6))
def test_any_pattern_is_read_or_refused(regex: str, text: str) -> None:
    try:
        pattern(regex).matches(text)
    except QueryError:
        return


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5m", 300), ("1h30m", 5400), ("100ms", 0.1), ("1y2w3d", 32_745_600 + 259_200), ("0", 0), ("m5", None), ("5", None),
     ("30m1h", None), ("", None), ("9" * 400 + "s", None)],
)  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.1, "0.1"), (1e22, "10000000000000000000000"), (1e-7, "0.0000001"), (-2.5, "-2.5"),
     (math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "-Inf"), (100.0, "100"), (0.0, "0")],
)  # fmt: skip
def test_numbers_are_written_without_an_exponent(value: float, text: str) -> None:
    assert text_of(value) == text


@given(
    st.floats(-1e6, 1e6),
    st.floats(0, 1e5),
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e9)), min_size=1, max_size=6),
)
def test_runs_hold_the_values_that_the_series_has(
    start: float, length: float, samples: list[tuple[float, float]]
) -> None:
    series = Series({"__name__": "x"}, tuple(sorted(samples)), Subject("a", "b"))
    points = [point for run in series.runs(start, start + length) for point in run.points()]
    assert all(start < time <= start + length for time, _ in points)
    assert [value for _, value in points] == [series.value_at(time) for time, _ in points]
