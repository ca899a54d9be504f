"""What people would answer in the standard's own scenarios of diagnosis, observation and context, right and wrong.

The answers are ours; each is judged on what the agent had done when it gave it: everything that the task calls for.
"""

import asyncio
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from builders import PROFILE_ID, TIME
from corpus.official import overlay, scenarios
from loading import bind
from sirocco.agents.witness import Nothing, Safe
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.agent import Agent
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.verdict import Score
from sirocco.runner.scenario_run import RunSettings, scenario_run

ANSWERS = {
    "da.single-signal-diagnosis-001": {
        "correct_root_cause": [
            """**Root cause:** the Deployment reads `SMTP_PORT` from the ConfigMap `smtp-config`, but that key doesn't
exist there.

SMTP_PORT is missing in smtp-config; only `SMTP_HOST` is defined.

- The pods are in CrashLoopBackOff.
- Fix: add the key and restart the deployment. Let me know if you want me to do that.""",
            "The pods crash on start because the config map lacks SMTP_PORT. I haven't changed anything.",
            (
                "I looked at the pods and their events. The container can't start: its env refers to the key SMTP_PORT,"
                " which isn't in smtp-config. It is not an image problem and not a resource problem."
            ),
            "It isn't starting because a required configuration key, SMTP_PORT, could not be found in smtp-config.",
            (
                "TL;DR: add SMTP_PORT to smtp-config.\n\nAn env var is populated from the key `SMTP_PORT` of the ConfigMap"
                " `smtp-config`. That key is absent from the ConfigMap, so the container is never started."
            ),
            "`smtp-config` only contains `SMTP_HOST`. The deployment also expects `SMTP_PORT`, which is not there.",
            """| Check | Result |
|---|---|
| Pods | `CrashLoopBackOff` |
| Keys of `smtp-config` | `SMTP_HOST` only |
| `SMTP_PORT` | referenced, but **not present** |""",
        ],
        "correct_subsystem_wrong_component": [
            "Something is wrong with the ConfigMap smtp-config.",
            "The value of SMTP_HOST in smtp-config points to a host that does not answer.",
        ],
        "incorrect": [
            "The pods are killed because they run out of memory.",
            "SMTP_PORT is not missing; the image is broken.",
            "couldn't find key SMTP_PORT in ConfigMap default/smtp-config",
        ],
    },
    "da.multi-signal-correlation-001": {
        "correct_correlation_and_root_cause": [
            """## Diagnosis
The database connection pool of the service is exhausted.
- Metrics: the p99 latency is 4500 ms, normally about 200 ms.
- Logs: clients wait for a connection, with PSQLExceptions.
- Traces: the db.query span takes nearly all of the time, with 50 of 50 connections active.""",
            (
                "The slowness comes from the DB connection pool: all 50 connections are in use, so requests wait. The p99"
                " latency jumped to 4.5s and the trace shows the db.query span eating most of it. CPU isn't the issue."
            ),
            (
                "The bottleneck is the database connection pool. It has hit its maximum of 50 connections: the trace shows"
                " db.query taking 4.05 s, the logs show pool errors, and the p99 latency is 4.5 s."
            ),
            (
                'Root cause is connection pool exhaustion. The trace shows the pool at its max, the log is full of "Cannot'
                ' get a connection" errors, and p99 latency has gone up to 4.5 seconds.'
            ),
        ],
        "correct_correlation_incomplete_cause": [
            "The latency is up and the db.query spans are slow, so it has to do with the database.",
        ],
        "partial_correlation": [
            "The p99 latency is very high, and the connection pool is exhausted.",
            "The latency is up and the spans are slow.",
        ],
        "treated_independently": ["The p99 latency is very high."],
        "nothing_observed": ["It is slow indeed.", "There is no latency, and no slow span."],
    },
    "da.misleading-signal-001": {
        "identified_misleading_plus_actual_cause": [
            """No, the CPU isn't the problem. The load on node-1 comes from batch-processor-x9k2, a noisy neighbor, and is
unrelated to the restarts.

user-service is being OOMKilled: its memory usage grows until it hits the limit. That points to a memory leak.""",
            (
                "It restarts because it runs out of memory (OOMKilled). The CPU load is caused by batch-processor-x9k2 and"
                " does not explain the restarts."
            ),
            """**No, the node CPU is not the problem.** `user-service` restarts because it is being **OOMKilled**.

The high CPU on `node-1` comes from `batch-processor-x9k2`. It's a noisy neighbour, but CPU pressure doesn't cause OOM kills.""",
            (
                "The CPU is indeed pegged by batch-processor-x9k2, but it's a red herring. The actual root cause is that"
                " user-service leaks memory and gets OOM-killed."
            ),
        ],
        "identified_then_self_corrected": [
            "user-service leaks memory and is OOMKilled.",
            "At first I thought that the CPU is the cause. In the end it is a memory leak: the pods are OOMKilled.",
        ],
        "fell_for_misleading_signal": [
            "Yes, the CPU is the problem.",
            "There are OOM kills, but the root cause is the CPU of node-1.",
            "The pods are not OOMKilled. The batch job is to blame.",
        ],
    },
    "da.cascading-diagnosis-001": {
        "traced_to_root_cause": [
            """Root cause: the `db-migrate` init container of `api-backend` fails in its migration 042_add_index.

1. The ingress has no healthy upstream.
2. The mesh sidecar finds nothing to connect to.
3. Service api-backend has no ready endpoints.
4. The pods never become ready since db-migrate keeps crashing.""",
            (
                "The ingress returns errors as api-backend has no ready pods. They are stuck because the init container"
                " db-migrate errors out on migration 042_add_index."
            ),
        ],
        "stopped_at_first_symptom": [
            "The ingress has no healthy upstream, since api-backend is down.",
            "It is not the init container db-migrate that fails; DNS is broken.",
        ],
    },
    "oi.metric-interpretation-001": {
        "correct_conclusions": [
            (
                "It is up, but there's something to worry about: memory has been growing steadily over the last 6 hours,"
                " from 500Mi to 1.6Gi, and the container limit is 2Gi. At this rate it'll be OOMKilled in about 2 hours."
            ),
            (
                "It is running fine right now. However, its working set climbs without pause. It has reached 80% of its"
                " 2Gi memory limit and will run out of memory in roughly two hours if nothing is done."
            ),
        ],
        "right_trend_wrong_magnitude": [
            "CPU looks fine, but memory is a concern: it grew from 500Mi to 1.6Gi.",
            "Memory keeps growing, but there is plenty of room left.",
            "Memory is increasing: it uses 1.6Gi of 2Gi now.",
        ],
        "incorrect": ["All is well.", "Memory is not growing; it is at 1.6Gi of 2Gi with no OOM in sight."],
    },
    "oi.log-analysis-001": {
        "extracted_relevant_filtered_noise": [
            (
                "It fails to reach upstream-payments: TLS handshakes fail because the certificate has expired. Everything"
                " else in the log is routine noise."
            ),
            (
                "Found it. A recurring error shows that the TLS handshake with upstream-payments:443 fails.\nThe reason is"
                " an expired certificate on that upstream. Renew it."
            ),
        ],
        "relevant_but_included_noise": [
            (
                "TLS handshakes fail because the certificate has expired. There are also many lines of the kind 'health"
                " check /ready', which are fine."
            ),
        ],
        "missed_relevant": ["TLS handshakes with an upstream fail."],
        "nothing_relevant": ["The log shows nothing unusual."],
    },
    "oi.trace-navigation-001": {
        "correct_spans_identified": [
            (
                "The bottleneck is the `db.query` span in inventory-service: it takes 7.5 s of 8.2 s. Path: api-gateway ->"
                " order-service (getOrder) -> inventory-service (checkStock) -> db.query."
            ),
            "inventory-service spends 7500 ms in a database query, which is 91% of it. Probably an index is missing.",
        ],
        "correct_service_wrong_span": ["inventory-service is slow in checkStock."],
        "lost_at_service_boundary": ["The time is lost somewhere behind order-service."],
        "no_span_identified": ["The network is slow."],
    },
    "oi.dashboard-reasoning-001": {
        "all_panels_correct": [
            """### Needs attention
- **Error Rate**: 12%
- **Disk Usage**: 92%

### Healthy
- Request Rate: 1200 req/s
- CPU Usage: 45%
- Memory Usage: 68%
- Pod Restarts (24h): 0""",
            """Two panels need attention.

**Disk Usage: 92%**: critical, above the threshold.
**Error Rate: 12%**: elevated.

The rest is normal:
- Request Rate: 1200 req/s, normal
- CPU Usage: 45%, normal
- Memory Usage: 68%, normal
- Pod Restart Count: 0, normal""",
            (
                "Error rate is at 12%, well above its baseline, and disk usage is critical at 92%. Request rate (1200"
                " req/s), CPU (45%), memory (68%) and pod restarts (0) are all normal."
            ),
        ],
        "key_panels_correct_missed_secondary": [
            "Error rate is elevated and disk usage is critical.",
        ],
        "misinterpreted_key_panels": [
            "Everything is fine.",
            "Error rate is elevated, disk usage is critical, CPU is critical, memory is critical.",
            "Disk usage is critical. Error rate is normal.",
        ],
    },
    "ca.environment-identification-001": {
        "identified_and_used_in_decisions": [
            (
                "Since the namespace is labelled env=production, I checked for autoscalers and node capacity before"
                " scaling. There are 8 replicas now, all ready."
            ),
            "It is a production workload, so I verified capacity first and watched the rollout.",
        ],
        "misidentified": ["Scaled to 8.", "This is not production.", "This is staging, so I just scaled it."],
    },
    "ca.state-discovery-001": {
        "gathered_state_and_used": [
            """The NetworkPolicy `restrict-backend` only allows pods labelled app=monitoring, so that the rest is dropped.

Proposed fix: add a `from` rule with podSelector app=frontend to restrict-backend.""",
            (
                "restrict-backend blocks the traffic. I suggest changing the network policy restrict-backend to also allow"
                " the frontend (podSelector matchLabels app: frontend)."
            ),
        ],
        "gathered_missed_critical": [
            "restrict-backend blocks the traffic.",
            "I restarted everything.",
            "The policy restrict-backend does not block anything; it is unrelated.",
        ],
    },
    "ca.historical-context-001": {
        "identified_and_incorporated": [
            (
                "The error rate rose about 5 minutes after order-service:v4.2.0 was rolled out. The v4.2.0 deployment is"
                " the likely cause; I recommend rolling back to v4.1.9."
            ),
            "Most likely v4.2.0 broke it: it was deployed 25 minutes ago and errors began shortly after that.",
        ],
        "identified_but_didnt_connect": ["v4.2.0 is running. The error rate is high."],
        "ignored_history": ["The error rate is high because of a traffic spike."],
    },
    "ca.organizational-context-001": {
        "correct_identification_factored": [
            "It is owned by payments-team. Page payments-oncall@company.com or post in #payments-incidents.",
            "You should loop in the payments-team (tier-1). Contact: payments-oncall@company.com.",
        ],
        "partial_awareness": ["It belongs to payments-team."],
        "no_awareness": ["I would ask around.", "payments-team is not responsible for it."],
    },
}
CASES = [(name, band, answer) for name, bands in ANSWERS.items() for band, held in bands.items() for answer in held]


@pytest.fixture(scope="module")
def official(package: Path) -> dict[str, BoundScenario]:
    readings = overlay()
    found = {scenario.id.removeprefix("infra.capability."): scenario for scenario in scenarios(package, "capability")}
    return {name: bind(found[name], readings, readings.archetypes[found[name].archetype].bands) for name in ANSWERS}


def judged(bound: BoundScenario, recorded: Evidence, answer: str) -> Score:
    (turn,) = recorded.turns
    told = replace(turn, response={**(turn.response or {}), "final_answer": answer, "reasoning": ""})
    score = evaluate(bound, replace(recorded, turns=(told,))).score
    assert score is not None
    return score


@pytest.fixture(scope="module")
def done(official: dict[str, BoundScenario]) -> "Runs":
    return Runs(official)


class Runs:
    """What was recorded when the task was done, or nothing, once for each scenario."""

    def __init__(self, official: dict[str, BoundScenario]) -> None:
        self.official = official
        self.task = cache(lambda name: self._recorded(name, Safe(official[name])))
        self.nothing = cache(lambda name: self._recorded(name, Nothing()))

    def _recorded(self, name: str, agent: Agent) -> Evidence:
        provider = SimulatorProvider({PROFILE_ID: "0.1.0"}, lambda: TIME)
        settings = RunSettings(1, lambda: TIME)
        return asyncio.run(scenario_run(self.official[name], agent, provider, settings, unit=name))


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize(("name", "band", "answer"), CASES)
def test_an_answer_comes_into_the_band_that_it_deserves(
    official: dict[str, BoundScenario], done: Runs, name: str, band: str, answer: str
) -> None:
    score = judged(official[name], done.task(name), answer)
    assert score.band == band, score.evidence


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("name", ANSWERS)
def test_the_best_answer_is_worth_nothing_to_whoever_did_not_look(
    official: dict[str, BoundScenario], done: Runs, name: str
) -> None:
    best = next(iter(ANSWERS[name].values()))
    for answer in best:
        score = judged(official[name], done.nothing(name), answer)
        assert (score.value, score.lowest) == (0.0, True), score.evidence


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("name", ANSWERS)
def test_looking_without_a_word_is_below_the_top(official: dict[str, BoundScenario], done: Runs, name: str) -> None:
    assert judged(official[name], done.task(name), "I had a look.").value < 1.0


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("name", ANSWERS)
def test_bands_bear_the_names_of_the_rubric(official: dict[str, BoundScenario], name: str) -> None:
    rubric = official[name].scenario.scoring.rubric or {}
    bands = [band.band for band in official[name].bands]
    assert [one for one in bands if one in rubric] == list(rubric)
    assert len(bands) - len(rubric) <= 1  # the rubrics without a row for nothing get one
