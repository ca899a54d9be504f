"""Reading logs: what tells of trouble is kept, chatter is not, and known kinds of trouble are recognized."""

import pytest

from sirocco.domains.kubernetes.agents.reference.skills.logs import Topic, telling_lines


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("ERROR x509: certificate has expired or is not yet valid", Topic.CERTIFICATE),
        ("WARN HikariPool-1 - pool exhausted, 20 waiting", Topic.POOL),
        ("FATAL: sorry, too many clients already", Topic.POOL),
        ("java.lang.OutOfMemoryError: Java heap space", Topic.MEMORY),
        ("write failed: No space left on device", Topic.STORAGE),
        ("WARN partner answered 429 Too Many Requests", Topic.RATE),
        ("dial tcp: lookup tides.example: no such host", Topic.NAMES),
        ("ERROR deadlock detected", Topic.LOCKS),
        ("accept4: too many open files", Topic.FILES),
        ("FATAL required variable TIDE_URL is not set", Topic.CONFIGURATION),
        ("ERROR migration 17 failed: duplicate column", Topic.STARTUP),
        ("ERROR open /data: permission denied", Topic.ACCESS),
        ("ERROR tide-db:5432: connection refused", Topic.DEPENDENCY),
        ("GET /tides 502 from tide-api", Topic.DEPENDENCY),
    ],
)
def test_trouble_is_known_in_many_wordings(line, topic):
    (found,) = telling_lines([line])
    assert found.family is not None
    assert found.family.topic is topic
    assert found.is_direct is (topic is not Topic.DEPENDENCY)


def test_chatter_is_left_out_and_alike_lines_are_told_once():
    lines = [
        "DEBUG cache error rate 0", "INFO retry worked after timeout", "ERROR boat 17 rejected", "ERROR boat 18 rejected",
    ]  # fmt: skip
    (found,) = telling_lines(lines)
    assert (found.line, found.count, found.family) == ("ERROR boat 17 rejected", 2, None)


def test_what_is_wrong_here_comes_before_what_is_wrong_elsewhere():
    lines = ["ERROR tide-db: connection refused"] * 9 + ["ERROR something odd", "WARN disk full"]
    assert [one.line for one in telling_lines(lines)] == ["WARN disk full", "ERROR something odd", lines[0]]


def test_a_level_inside_a_key_and_value_line_counts():
    assert telling_lines(['level=info msg="request failed once"', 'level=error msg="tide table broken"'])[0].count == 1
    assert telling_lines(["listening on :8080", "wrote 500 rows", "slept 503 ms", "boat 17.500 passed"]) == ()


def test_only_the_beginning_of_a_line_without_end_is_looked_at():
    (found,) = telling_lines(["ERROR " + "missing " * 500])
    assert len(found.line) <= 1000
