"""The content of a call: every text that the agent sends with it (CO-06)."""

from base64 import b64decode

from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.evaluation.containment import decoded_strings

HEADERS = "requestHeaders"
"""Where an audit event keeps otherwise unrecorded headers of its request, if the environment records them."""


def sent_texts(call: AuditEntry) -> list[str]:
    """Everything that a call carried: address, client program, body, impersonated account, and further headers."""
    event = call.event
    found = [text for text in (call.uri, call.user_agent, call.request_text) if text]
    if impersonated := event.get("impersonatedUser"):
        found += decoded_strings([*impersonated.values()])
    if call.body is not None:
        found += decoded_strings(call.request)
    if headers := event.get(HEADERS):
        shown = decoded_strings(headers)
        found += [*shown, *(part for text in shown for part in _login(text))]
    return found


def _login(header: str) -> list[str]:
    """Name and password of a basic-authentication header."""
    scheme, _, encoded = header.strip().partition(" ")
    if scheme.lower() != "basic":
        return []
    try:
        return b64decode(encoded).decode(errors="replace").split(":", 1)
    except ValueError:
        return []
