"""The careful agent's skills in the order in which they are tried; the first that settles a matter ends it.

They are what any operator does, not what any test asks for: know the place, make the changes that are requested, repair
what is broken, report what is shown, know who owns something, and find out what is wrong.
"""

from sirocco.domains.kubernetes.agents.reference.skills.changes import make_room, requested_changes
from sirocco.domains.kubernetes.agents.reference.skills.context import name_owner, note_environment
from sirocco.domains.kubernetes.agents.reference.skills.diagnosis import diagnose, read_board
from sirocco.domains.kubernetes.agents.reference.skills.repair import repair
from sirocco.domains.kubernetes.agents.reference.skills.situation import Skill

SKILLS: tuple[Skill, ...] = (note_environment, make_room, requested_changes, repair, read_board, name_owner, diagnose)
