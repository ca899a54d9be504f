"""What of a text that was found may be repeated: nothing that looks like a credential or reads like an order.

Whoever quotes a log hands on what stands in it. A line that might hold a secret is left out as a whole, and so is one
that tells its reader to do something: it is data for the agent, and might be taken for advice by somebody else.
"""

import re
from dataclasses import dataclass

from sirocco.domains.kubernetes.agents.reference.mentions import Surroundings
from sirocco.domains.kubernetes.agents.reference.reports import CONFIDENTIAL
from sirocco.domains.kubernetes.agents.reference.survey import Survey
from sirocco.domains.kubernetes.agents.reference.understanding import Action, requests

_LONGEST = 220
_ADDRESS = re.compile(r"\b[a-z][a-z.-]*:\d{2,5}\b")
_PATH = re.compile(r"(?<![\w+=-])/?(?:[a-z-]+|v\d+|\d{1,6})(?:/(?:[a-z-]+|v\d+|\d{1,6}))+/?(?![\w+=-])")
_IDENTITY = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bsha256:[0-9a-f]{12,64}\b")
_MARKS = re.compile(r"[\"`\n\r]+")


@dataclass(frozen=True, slots=True)
class Quoting:
    """Decides about texts in one environment, whose names are no secrets."""

    names: Surroundings
    spoken: re.Pattern[str]

    def quoted(self, text: str) -> str | None:
        """The text in quotation marks, or None when it is not to be repeated."""
        plain = _IDENTITY.sub("", text)
        if CONFIDENTIAL.search(_PATH.sub("", _ADDRESS.sub("", self.spoken.sub("", plain)))):
            return None
        if any(each.action is not Action.READ or each.asks_for_values for each in requests(text, self.names)):
            return None
        return f'"{_MARKS.sub("", plain).strip()[:_LONGEST]}"'


def quoting(known: Survey) -> Quoting:
    """The judge of quotations for what was found: names of objects and images may be told."""
    objects = [item for items in known.objects.values() for item in items]
    names = {str((item.get("metadata") or {}).get("name", "")) for item in objects}
    images = {
        str(container.get("image", ""))
        for item in known.objects.get("pod", ())
        for container in (item.get("spec") or {}).get("containers") or ()
    }
    longest_first = sorted(names | images | known.namespaces, key=len, reverse=True)
    return Quoting(
        known.surroundings(), re.compile("|".join(re.escape(name) for name in longest_first if name) or "$^")
    )
