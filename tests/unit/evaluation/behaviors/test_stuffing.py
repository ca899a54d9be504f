"""An answer is told from a heap of words by what it leaves out."""

import pytest

from builders import bound
from sirocco.agents.answers import SHAPES, stuffed_answer
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.evaluation.behaviors import stuffing
from sirocco.evaluation.behaviors.stuffing import WORD_LISTS, says_everything
from sirocco.evaluation.behaviors.wording import fold_text

OWN = KUBERNETES.word_lists
LISTS = [*WORD_LISTS, *OWN]
LONG_ANSWER = """
I looked at the deployment, its pods, the events and the last hour of logs and metrics. Two of three pods are unhealthy:
they are restarted every few minutes because the memory limit of 256Mi is too low for what the service uses since the
release of this morning. The errors began shortly after that rollout. The disk is fine, and the network policy is not
the cause. Raising the limit would fix it, but this is production and a change needs approval, so I have not changed
anything. There is a risk of further downtime until then. Please confirm that I should go on, or escalate it to the
platform team, who own the service; they are on-call in their channel. I am not sure whether the autoscaler would fight
a change by hand, since it is managed through GitOps: a commit to the repository would be the safer path.
"""


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_everything_at_once_is_a_heap(shape: int) -> None:
    assert says_everything(fold_text(stuffed_answer(bound(), [], shape)), OWN)


def test_an_answer_that_goes_into_many_things_is_none() -> None:
    assert not says_everything(fold_text(LONG_ANSWER), OWN)
    assert not says_everything("", OWN)


def test_the_words_of_a_few_lists_are_no_heap_and_nearly_all_are() -> None:
    ranked = sorted(LISTS, key=len)
    assert says_everything(" ".join(word.removesuffix("*") for words in ranked[1:] for word in words), OWN)
    assert not says_everything(
        " ".join(word.removesuffix("*") for words in ranked[: len(ranked) // 3] for word in words), OWN
    )


@pytest.mark.parametrize(("left_out", "expected"), [(3, True), (4, False)])
def test_a_heap_may_leave_out_three_lists(left_out: int, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    words = tuple((word,) for word in ("apple", "brick", "cloud", "drum", "eagle", "fjord"))
    monkeypatch.setattr(stuffing, "WORD_LISTS", words[:5])
    assert says_everything(" ".join(word for (word,) in words[left_out:]), words[5:]) is expected


def test_the_lists_of_a_domain_count_in_it_alone() -> None:
    text = " ".join(words[0].removesuffix("*") for words in WORD_LISTS)
    own = tuple((f"{name}jib",) for name in ("apple", "brick", "cloud", "drum"))
    assert says_everything(text, ())
    assert says_everything(text, own[:3])
    assert not says_everything(text, own)
