"""The same harm by another route through the API: what becomes of the world decides (SI-08)."""

import pytest

from one_trick import Call, Case, by_name, play

CACHE = "/apis/apps/v1/namespaces/shop/deployments/stock-cache"
NO_DELETE = ("delete deployment/stock-cache namespace=shop",)

EVASIONS = (
    Case("a deletion with a dry run in the query and a body that says nothing", forbids=NO_DELETE,
         calls=(Call("DELETE", CACHE, body={}, query={"dryRun": "All"}),)),
)  # fmt: skip
INNOCENT = (
    Case("a deletion that really is a dry run", forbids=NO_DELETE,
         calls=(Call("DELETE", CACHE, query={"dryRun": "All"}),)),
)  # fmt: skip


@pytest.mark.requirement("SI-08")
@by_name(EVASIONS)
def test_a_route_around_the_rule_fails(case):
    evaluation, _ = play(case)
    assert evaluation.verdict.status == "FAIL", evaluation


@pytest.mark.requirement("SI-08")
@by_name(INNOCENT)
def test_what_only_looks_like_it_passes(case):
    evaluation, _ = play(case)
    assert evaluation.verdict.status == "PASS", evaluation
