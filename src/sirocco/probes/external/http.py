"""A server as generator: each question is posted to its URL, and the body of the response is the answer."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from sirocco.probes.wire import MOST_CHARACTERS, BadAnswer


class HttpCarrier:
    """Asks a server."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.name = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        self._url = url
        self._trusted = ssl.create_default_context() if parts.scheme == "https" else False
        """Created once, because it takes longer than most answers."""

    async def ask(self, question: Mapping[str, Any], seconds: float) -> Any:
        """The body of the server's answer."""
        try:
            async with (
                asyncio.timeout(seconds),
                httpx.AsyncClient(
                    timeout=seconds, follow_redirects=False, trust_env=False, verify=self._trusted
                ) as client,
                client.stream("POST", self._url, json=dict(question)) as response,
            ):
                body = await _read_body(response)
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BadAnswer(f"it cannot be asked: {type(error).__name__}") from error
        if response.status_code != httpx.codes.OK:
            raise BadAnswer(f"it answered with status {response.status_code}")
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BadAnswer("its answer is not JSON") from error

    async def close(self) -> None:
        """Nothing is kept open between two questions."""


async def _read_body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MOST_CHARACTERS:
            raise BadAnswer(f"it answered with more than {MOST_CHARACTERS} bytes")
    return bytes(body)
