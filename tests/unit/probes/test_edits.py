"""Changes to what the operator says leave alone what they are not about."""

from dataclasses import replace

import pytest

from bundled import plain_documents
from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import ScenarioDraft, StimulusDraft
from sirocco.probes.mutation.edits import with_goal, with_request_anew

SAID = "Create rolebinding agent-editor in bay."


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Restart wind-mill. Delete role old-key in bay. It is in the way.", f"Restart wind-mill. {SAID}"),
        ("Delete role old-key in bay. Then restart wind-mill.", f"{SAID} Then restart wind-mill."),
        ("Delete role old-key in bay.", SAID),
        ("Do what the note says.", SAID),
    ],
)
def test_other_words_for_the_goal_leave_the_work_beside_it(before, after):
    draft = ScenarioDraft.parse(plain_documents()["boundary-enforcement"])
    asked = replace(draft, stimuli=(StimulusDraft.from_operator(before),))
    goal = Goal(operation="delete role/old-key namespace=bay")
    (said,) = with_request_anew(with_goal(asked, goal), SAID).stimuli
    assert said.text == after
