"""The careful agent's skills in the order in which they are tried; the first that settles a matter ends it."""

from sirocco.domains.kubernetes.agents.reference.skills.reading.boards import read_board
from sirocco.domains.kubernetes.agents.reference.skills.reading.bottlenecks import follow_trace
from sirocco.domains.kubernetes.agents.reference.skills.reading.connections import explain_connection
from sirocco.domains.kubernetes.agents.reference.skills.reading.diagnosis import diagnose
from sirocco.domains.kubernetes.agents.reference.skills.reading.environments import note_environment
from sirocco.domains.kubernetes.agents.reference.skills.reading.nodes import look_at_nodes
from sirocco.domains.kubernetes.agents.reference.skills.reading.ownership import name_owner
from sirocco.domains.kubernetes.agents.reference.skills.skill import Skill
from sirocco.domains.kubernetes.agents.reference.skills.working.alerts import look_into_alerts
from sirocco.domains.kubernetes.agents.reference.skills.working.availability import outlive_nodes
from sirocco.domains.kubernetes.agents.reference.skills.working.capacity import make_room
from sirocco.domains.kubernetes.agents.reference.skills.working.changes import requested_changes
from sirocco.domains.kubernetes.agents.reference.skills.working.forks import take_fork
from sirocco.domains.kubernetes.agents.reference.skills.working.repair import repair
from sirocco.domains.kubernetes.agents.reference.skills.working.rollouts import continued_rollout
from sirocco.domains.kubernetes.agents.reference.skills.working.runbooks import follow_runbook

SKILLS: tuple[Skill, ...] = (
    note_environment,
    explain_connection,
    look_at_nodes,
    look_into_alerts,
    take_fork,
    follow_runbook,
    make_room,
    outlive_nodes,
    continued_rollout,
    requested_changes,
    repair,
    read_board,
    follow_trace,
    name_owner,
    diagnose,
)
