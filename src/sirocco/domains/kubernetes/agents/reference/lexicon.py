"""The words that requests are made of: verbs by what they ask for, nouns by the kind they mean, and function words.

Only data and the inflection of English verbs. No word is here because some scenario uses it: the lists hold what
operators say for each thing that can be done to a cluster.
"""

from enum import StrEnum

from kubesim.resource import REPLICATED, RESOURCE_TYPES, WORKLOADS


def word_set(text: str) -> frozenset[str]:
    """The words of `text` as a set."""
    return frozenset(text.split())


class Sense(StrEnum):
    """What a verb can ask for; one verb may have several senses, and the rest of the sentence chooses."""

    DELETE = "delete"
    RESTART = "restart"
    ROLLBACK = "rollback"
    SCALE = "scale"
    STOP = "stop"
    VANISH = "vanish"
    CHANGE = "change"
    SWITCH_ON = "switch on"
    SWITCH_OFF = "switch off"
    CREATE = "create"
    GRANT = "grant"
    EXECUTE = "execute"
    COPY = "copy"
    READ = "read"


class Form(StrEnum):
    """The inflected form of a verb."""

    BASE = "base"
    THIRD_PERSON = "third person"
    GERUND = "gerund"
    PARTICIPLE = "participle"
    NOUN = "noun"


# "…" lets other words stand between a verb and its particle.
VERBS: dict[Sense, tuple[str, ...]] = {
    Sense.DELETE: (
        "delete", "remove", "drop", "destroy", "purge", "wipe", "nuke", "erase", "decommission", "retire", "scrap",
        "bin", "trash", "eliminate", "discard", "prune", "uninstall", "undeploy", "terminate", "kill", "evict", "zap",
        "axe", "ditch", "sunset", "reclaim", "clear", "dismantle", "junk", "toss", "chuck", "cull", "obliterate",
        "expunge", "dispose of", "do away with", "get rid of", "tear", "take … out", "take … away", "throw … away",
        "throw … out", "clean … up", "clean … out", "blow … away", "rip … out", "strip … out", "rm", "detach", "yank",
        "flush", "deprovision", "de-provision", "unprovision", "demolish", "annihilate", "extinguish", "vaporize",
        "get … out of the way", "let … go", "make … disappear", "make … go away", "pull … down", "release",
    ),
    Sense.RESTART: (
        "restart", "bounce", "roll", "recycle", "cycle", "kick", "reboot", "reload", "relaunch", "redeploy", "refresh",
        "respawn", "re-roll", "re-start", "kickstart", "kick-start", "power-cycle", "power cycle", "rollout restart",
        "hard-restart", "reset", "re-deploy", "rotate the pods of", "turn … off and on",
    ),
    Sense.ROLLBACK: (
        "roll … back", "rollback", "revert", "undo", "back … out", "downgrade", "rollout undo", "go back to",
    ),
    Sense.SCALE: (
        "scale", "resize", "rescale", "upscale", "downscale", "right-size", "rightsize", "double", "triple",
        "quadruple", "halve", "scale-up", "scale-down", "upsize", "downsize",
    ),
    Sense.STOP: (
        "stop", "halt", "shut", "turn … off", "switch … off", "take … down", "take … offline", "power … down",
        "power … off", "spin … down", "wind … down", "bring … down", "park", "idle", "suspend", "pause", "quiesce",
        "shutter", "knock … offline", "stand … down", "mothball", "put … to sleep", "close … down", "pull the plug on",
    ),
    Sense.VANISH: ("go", "disappear", "vanish"),
    Sense.SWITCH_ON: ("enable", "turn … on", "switch … on", "activate"),
    Sense.SWITCH_OFF: ("disable", "turn … off", "switch … off", "deactivate"),
    Sense.CHANGE: (
        "set", "change", "update", "switch", "patch", "edit", "modify", "adjust", "flip", "put", "make", "configure",
        "override", "replace", "point", "ensure", "write", "alter", "tweak", "turn", "bring", "bump", "raise", "lower",
        "take", "get", "move", "push", "grow", "shrink", "increase", "decrease", "reduce", "cut", "run", "expand",
        "extend", "ramp", "crank", "dial", "keep", "hold", "give", "have", "want", "need", "go", "upgrade", "deploy",
        "roll … out", "ship", "promote", "pin", "release", "label", "annotate", "tag", "add", "drop", "remove", "spin",
        "boost", "pump", "trim", "step", "fix", "use", "repoint", "redirect", "set … up", "beef", "multiply", "require",
        "assign", "allocate", "start", "launch", "throttle", "let", "expect", "request", "rewrite", "swap",
    ),
    Sense.CREATE: (
        "create", "add", "make", "provision", "set … up", "launch", "deploy", "spin … up", "stand … up", "install",
        "apply", "start", "build", "generate",
    ),
    Sense.GRANT: (
        "grant", "bind", "authorize", "authorise", "elevate", "entitle", "empower", "escalate", "give", "add", "extend",
        "assign", "expand", "widen", "broaden", "promote",
    ),
    Sense.EXECUTE: ("exec", "execute", "run", "invoke", "shell into", "issue", "exec into", "open", "start", "get"),
    Sense.COPY: (
        "copy", "put", "store", "write", "place", "save", "stash", "embed", "mirror", "duplicate", "publish", "move",
        "add", "paste", "record", "attach", "expose", "set", "stick", "drop",
    ),
    Sense.READ: (
        "show", "print", "display", "give", "tell", "read", "paste", "send", "dump", "list", "reveal", "share",
        "output", "echo", "fetch", "get", "describe", "report", "check", "look", "inspect", "investigate", "diagnose",
        "examine", "find", "see", "review", "analyze", "analyse", "debug", "troubleshoot", "verify", "confirm",
        "explain", "watch", "monitor", "audit", "summarize", "summarise", "study", "trace", "determine", "identify",
        "figure", "provide", "include", "post", "quote", "hand", "decode", "cat", "need", "want", "let", "view",
        "retrieve", "expose", "leak", "disclose", "forward", "recite", "repeat", "spell", "pull", "grab", "extract",
        "obtain", "walk", "work", "ascertain", "establish", "understand", "learn", "query", "collect",
        "gather", "return", "write", "copy", "put", "attach", "read … out", "clarify", "have", "drop", "take", "help",
        "resolve", "export", "relay", "supply", "pass", "surface", "mention", "state", "remind", "message", "email",
    ),
}  # fmt: skip
QUESTIONS = word_set("what what's which why who who's where where's how how's when")

# Second words with which a verb means something else: "kick off a restart", "roll out a version".
OTHER_MEANINGS = {"kick": "off", "roll": "out", "drop": "by", "kill": "time", "clear": "with"}

# Deeds named by a noun: "needs a restart", "requires the removal of ...".
DEED_NOUNS: dict[str, Sense] = {
    "deletion": Sense.DELETE, "removal": Sense.DELETE, "teardown": Sense.DELETE, "decommissioning": Sense.DELETE,
    "restart": Sense.RESTART, "reboot": Sense.RESTART, "bounce": Sense.RESTART, "kick": Sense.RESTART,
    "redeploy": Sense.RESTART, "recycle": Sense.RESTART, "reload": Sense.RESTART, "refresh": Sense.RESTART,
    "roll": Sense.RESTART, "rollback": Sense.ROLLBACK, "revert": Sense.ROLLBACK,
    "shutdown": Sense.STOP, "scale-up": Sense.SCALE, "scale-down": Sense.SCALE, "scaling": Sense.SCALE,
}  # fmt: skip
LIGHT_VERBS = word_set(
    "do does perform trigger issue start give run request force initiate schedule need needs want wants require "
    "requires recommend apply try make carry execute launch deserves use uses kick begin attempt proceed warrants get "
    "order"
)

_DOUBLED = ("scrap", "bin", "zap", "drop", "stop", "run", "cut", "set", "get", "put", "flip", "shut", "pin", "spin",
            "trim", "step", "ship", "rip", "strip", "tag", "reset", "chop", "grab", "swap", "let", "prod")  # fmt: skip
_IRREGULAR_PARTICIPLES = {
    "set": "set", "put": "put", "cut": "cut", "shut": "shut", "reset": "reset", "run": "run", "get": "gotten",
    "take": "taken", "bring": "brought", "throw": "thrown", "tear": "torn", "give": "given", "make": "made",
    "undo": "undone", "do": "done", "spin": "spun", "wind": "wound", "hold": "held", "keep": "kept", "write": "written",
    "read": "read", "tell": "told", "show": "shown", "send": "sent", "find": "found", "see": "seen", "go": "gone",
    "blow": "blown", "grow": "grown", "shrink": "shrunk", "build": "built", "stick": "stuck", "override": "overridden",
    "rewrite": "rewritten", "bind": "bound", "stand": "stood", "let": "let",
}  # fmt: skip


# Verbs whose participle looks like the base form.
INVARIABLE = frozenset(verb for verb, participle in _IRREGULAR_PARTICIPLES.items() if verb == participle)
# Verbs whose base form is also an adjective: "the cause is clear".
ALSO_ADJECTIVES = word_set("clear idle clean open double triple free kind live slow dim trim")


def inflected(verb: str) -> dict[str, Form]:
    """Every form of `verb`, with its name; the base form wins if two look alike."""
    third = verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    if verb.endswith("y") and verb[-2] not in "aeiou":
        third, stem, gerund = verb[:-1] + "ies", verb[:-1] + "i", verb
    elif verb.endswith("e") and not verb.endswith("ee"):
        stem = gerund = verb[:-1]
    elif verb.rpartition("-")[2] in _DOUBLED:
        stem = gerund = verb + verb[-1]
    else:
        stem = gerund = verb
    participle = _IRREGULAR_PARTICIPLES.get(verb, stem + "ed")
    return {gerund + "ing": Form.GERUND, participle: Form.PARTICIPLE, third: Form.THIRD_PERSON, verb: Form.BASE}


VERB_FORMS = frozenset(
    form for wordings in VERBS.values() for wording in wordings for form in inflected(wording.split()[0])
)

_KIND_SYNONYMS: dict[str, tuple[str, ...]] = {
    "deployment": ("deployment",), "workload": ("deployment", "statefulset", "daemonset"),
    "app": ("deployment", "statefulset"), "application": ("deployment", "statefulset"),
    "component": ("deployment", "statefulset"), "microservice": ("deployment", "service"),
    "service": ("service", "deployment", "statefulset"), "server": ("deployment", "statefulset"),
    "backend": ("deployment", "service"), "worker": ("deployment",), "container": ("pod", "deployment"),
    "stateful set": ("statefulset",), "daemon set": ("daemonset",), "replica set": ("replicaset",),
    "volume claim": ("pvc",), "persistent volume claim": ("pvc",), "claim": ("pvc",), "storage claim": ("pvc",),
    "persistent volume": ("pv", "pvc"), "volume": ("pvc", "pv"), "data volume": ("pvc",), "disk": ("pvc",),
    "storage": ("pvc",), "drive": ("pvc",), "persistent disk": ("pvc",), "disk claim": ("pvc",), "data disk": ("pvc",),
    "credential": ("secret",), "password": ("secret",), "passphrase": ("secret",), "token": ("secret",),
    "api key": ("secret",), "login": ("secret",), "private key": ("secret",), "access key": ("secret",),
    "certificate": ("secret",), "connection string": ("secret",), "pin code": ("secret",), "passcode": ("secret",),
    "config map": ("configmap",), "config": ("configmap",), "configuration": ("configmap",), "setting": ("configmap",),
    "config-map": ("configmap",), "runbook": ("configmap",), "feature flag": ("configmap",),
    "autoscaler": ("hpa",), "horizontal pod autoscaler": ("hpa",), "role binding": ("rolebinding",),
    "cluster role": ("clusterrole",), "cluster role binding": ("clusterrolebinding",),
    "service account": ("serviceaccount",), "network policy": ("networkpolicy",), "firewall rule": ("networkpolicy",),
    "disruption budget": ("pdb",), "pod disruption budget": ("pdb",), "cron job": ("cronjob",),
    "resource quota": ("resourcequota",), "limit range": ("limitrange",), "route": ("ingress",), "machine": ("node",),
    "instance": ("pod",), "replica": ("pod",), "name space": ("namespace",),
}  # fmt: skip
# Short names that are also ordinary English words would turn prose into objects.
_PROSE_SHORT_NAMES = word_set("no limits rs ds ing ev ep event events po")


# Third-person verbs that follow a kind: "the deployment keeps restarting".
_PREDICATES = word_set(
    "keeps needs runs crashes fails shows has does hangs restarts says looks seems gets uses holds wants stays goes "
    "comes takes answers responds works starts stops drops serves reports returns throws loses eats consumes sits lives"
)


def _plural(word: str) -> str:
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


def _kind_words() -> dict[str, tuple[str, ...]]:
    words: dict[str, tuple[str, ...]] = {
        name: (row.noun,)
        for row in RESOURCE_TYPES
        for name in (row.noun, row.plural, row.kind.lower(), *row.short_names)
        if name not in _PROSE_SHORT_NAMES
    }
    for word, nouns in _KIND_SYNONYMS.items():
        words[word] = words[_plural(word)] = nouns
    return words


KIND_WORDS = _kind_words()
PLURAL_KINDS = frozenset({row.plural for row in RESOURCE_TYPES} | {_plural(word) for word in _KIND_SYNONYMS})
KIND_LENGTH = max(len(word.split()) for word in KIND_WORDS)
# Names for the content of a secret that do not say that it is one.
SENSITIVE_NOUNS = frozenset(word for word, nouns in KIND_WORDS.items() if nouns == ("secret",))
ENVIRONMENT_NOUNS = word_set("env envs environment envvar envvars env-vars variables vars")

ACCEPTABLE: dict[Sense, frozenset[str]] = {
    Sense.RESTART: WORKLOADS | {"pod"},
    Sense.ROLLBACK: WORKLOADS,
    Sense.SCALE: REPLICATED,
    Sense.STOP: REPLICATED,
    Sense.EXECUTE: WORKLOADS | {"pod"},
}

QUANTIFIERS = word_set("all every each everything any entire anything whole")
PRONOUNS = word_set("it them that this these those they both one itself")
COUNT_NOUNS = word_set(
    "replica replicas instance instances copy copies pod pods node nodes container containers worker workers "
    "replicaset clones clone members member"
)

# Words that can accompany a verb without being its object.
COURTESIES = word_set("please now immediately then and asap right away thanks today first also too at once soon")
# Words that mark a sentence as being about images, about access, or about an answer to the asker.
IMAGE_NOUNS = word_set(
    "image tag version release build upgrade downgrade deploy ship promote upgraded deployed images versions"
)
ACCESS_NOUNS = word_set(
    "access permission permissions admin cluster-admin rights privileges role rolebinding privilege scope zones "
    "zone administrator root clusterrole"
)
RECEIVERS = word_set("yourself your you me myself my us our account agent serviceaccount")
ANSWER_NOUNS = word_set("here chat reply answer message response channel summary report back")
# Words after which a clause explains what came before.
EXPLANATIONS = word_set(
    "because since so which who while until unless although though that as if when after before where once "
    "whereas till given except excluding besides"
)

# Words that open a clause which explains, conditions or dates another one.
SUBORDINATORS = word_set(
    "because since if when whenever while after before until unless although though once whereas as so which who "
    "whose where that"
)
NEGATORS = word_set(
    "not don't dont never cannot can't cant won't mustn't shouldn't needn't didn't doesn't isn't aren't wouldn't "
    "couldn't wasn't nobody hasn't haven't"
)
NEGATION_CANCELLERS = word_set("hesitate forget fail neglect wait delay omit")
# Each of these negates the deed that follows it.
AVERSIONS = (("without",), ("avoid",), ("against",), ("instead", "of"), ("short", "of"), ("rather", "than"),
             ("refrain", "from"), ("abstain", "from"), ("stay", "away", "from"), ("prevent",), ("stop",), ("quit",),
             ("no", "need", "to"), ("no", "reason", "to"), ("other", "than"), ("keep", "from"))  # fmt: skip
OTHER_SUBJECTS = word_set("i they he she people users customers someone somebody nobody we")
# With one of these "I would ... if you could" is a polite order.
WISHES = word_set(
    "like want need prefer appreciate ask grateful glad love request happy thankful great nice wish hope kind "
    "good lovely obliged helpful delighted"
)
POSSIBILITIES = frozenset({"would", "could", "might", "'d"})
OBLIGATIONS = word_set("must should need needs has have can may shall ought to please is are required supposed safely")
RESPONDERS = word_set(
    "operator operators responder responders engineer engineers agent agents assistant assistants on-call oncall "
    "sre sres automation admin admins administrator administrators team teams staff you bot"
)
NOT_INFINITIVE_ORDERS = word_set(
    "how what whether when where who not never fail failed fails failing refuse refused refuses try tried tries "
    "trying unable attempt attempted attempts used about reluctant afraid likely unlikely seems seem seemed "
    "appears able decided decides decide planned plan plans planning meant permission"
)
ARTICLES = word_set("a an the its our your my their his her another no")
_NOUN_SETTINGS = word_set("this that each every last latest next first previous recent of per at rolling health")
BEFORE_NOUNS = ARTICLES | _NOUN_SETTINGS

NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "single": 1,
}  # fmt: skip
MULTIPLIERS = {
    "dozen": 12, "hundred": 100, "hundreds": 100, "thousand": 1000, "thousands": 1000, "million": 1_000_000,
}  # fmt: skip
NOTHING_WORDS = frozenset({"none", "nothing", "nil", "nought", "null"})
FACTORS = {"double": 2.0, "twice": 2.0, "triple": 3.0, "thrice": 3.0, "quadruple": 4.0, "halve": 0.5, "half": 0.5,
           "doubled": 2.0, "tripled": 3.0, "halved": 0.5, "doubling": 2.0, "tripling": 3.0, "halving": 0.5}  # fmt: skip
PREPOSITIONS = word_set(
    "in inside within from under of across at on for to into with by over onto through via out off up down about "
    "around against between behind below above near per upon towards toward during"
)
_EVERYDAY_WORDS = word_set(
    "and or but nor then also too just only even still already yet now immediately again soon quickly asap first "
    "actual part held used owned taken "
    "last next please kindly be been being am was were do did done has had having will would let's me you us him "
    "some few several many more most less least other another same such own old new stale unused unneeded "
    "redundant orphaned obsolete leftover broken failing failed stuck hung slow fast healthy unhealthy bad good "
    "big small large huge tiny full empty spare extra additional main primary secondary current existing running "
    "idle affected offending related following above below remaining single rolling live test dead busy noisy "
    "degraded crashed crashing there here named called labelled labeled tagged known thing things stuff rest lot "
    "way ways time moment problem problems issue issues cause reason state status situation place space room "
    "disk-space memory cpu traffic load requests errors error warning warnings logs log line lines event events "
    "metrics value values key keys data content contents entry count number total size limit limits level image "
    "version tag label labels annotation annotations name names team customer customers user users everyone "
    "operators owner today tomorrow tonight yesterday morning night week minute minutes hour hours second seconds "
    "day days production prod staging safe sure ok okay fine right wrong clean clear ready available down up back "
    "away apart together exactly approximately roughly nearly almost maximum minimum max min is are it's i'm "
    "we're you're that's i'll we'll you'll i'd we'd you'd i've we've they're urgent important note notice "
    "attention info debug fatal hi hello hey thanks thank yes no if needed necessary possible required approval "
    "confirmation permission help fix work change changes action step steps order took went came got made ran "
    "broke fell kept began left lost gave said except excluding besides both"
)
# Words that can appear beside a kind or after a verb without being a name.
NOT_NAMES = _EVERYDAY_WORDS.union(
    PREPOSITIONS, SUBORDINATORS, NEGATORS, QUANTIFIERS, PRONOUNS, ARTICLES, OBLIGATIONS, POSSIBILITIES, COUNT_NOUNS,
    QUESTIONS, LIGHT_VERBS, OTHER_SUBJECTS, KIND_WORDS, NUMBER_WORDS, MULTIPLIERS, NOTHING_WORDS, FACTORS, _PREDICATES,
    ENVIRONMENT_NOUNS, RESPONDERS,
)  # fmt: skip
