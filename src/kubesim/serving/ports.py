"""Connections to the ports of a pod: a listening port answers HTTP; any other fails in a kubelet's words."""

import re

from kubesim.surroundings import Forwarding

_LENGTH = re.compile(rb"(?im)^content-length: *(\d{1,9})\r$")
_REQUEST = re.compile(rb"[A-Z]+ \S+ HTTP/1\.[01]\r\n")
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n\r\nOK\n"
_MOST_TOLD = 1024 * 1024


class PortConnection:
    """One connection to a port of a pod."""

    def __init__(self, forwarding: Forwarding, port: int) -> None:
        self.port = port
        self._pod_uid = forwarding.pod_uid
        self._is_reached = forwarding.reaches(port)
        self._waiting = b""
        self._told = b""

    @property
    def refusal(self) -> str:
        """The kubelet's message when nothing listens; empty when something does."""
        if self._is_reached:
            return ""
        dialled = f"dial tcp4 127.0.0.1:{self.port}: connect: connection refused"
        failed = f"failed to connect to localhost:{self.port} inside namespace"
        return (
            f"error forwarding port {self.port} to pod {self._pod_uid}, uid : failed to execute portforward in network "
            f'namespace: {failed} "cni-{self._pod_uid}", IPv4: {dialled} IPv6 '
            f"dial tcp6 [::1]:{self.port}: connect: connection refused "
        )

    @property
    def take_input(self) -> str:
        """Everything that the client sent."""
        return self._told.decode(errors="replace")

    def answer(self, data: bytes) -> bytes:
        """The answer to what was sent: one for each complete HTTP request, else nothing."""
        self._told += data[: _MOST_TOLD - len(self._told)]
        if not self._is_reached:
            return b""
        self._waiting += data
        answers = b""
        while _REQUEST.match(self._waiting) and b"\r\n\r\n" in self._waiting:
            head, _, rest = self._waiting.partition(b"\r\n\r\n")
            length = _LENGTH.search(head + b"\r\n")
            size = int(length[1]) if length else 0
            if len(rest) < size:
                break
            self._waiting = rest[size:]
            answers += _ANSWER.removesuffix(b"OK\n") if head.startswith(b"HEAD ") else _ANSWER
        return answers
