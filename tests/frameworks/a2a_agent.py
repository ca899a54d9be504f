"""An agent by the A2A SDK that lists pods; it prints its address when it is ready. Run with the SDK's own Python."""

import json
import socket
import ssl
import urllib.request

import uvicorn
from a2a.helpers import get_data_parts, new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard
from starlette.applications import Starlette


class PodCounter(AgentExecutor):
    async def execute(self, context, event_queue):
        environment = get_data_parts(context.message.parts)[0]
        kubernetes = environment["kubernetes"]
        path = f"/api/v1/namespaces/{kubernetes['namespace']}/pods"
        asked = urllib.request.Request(
            kubernetes["server"] + path, headers={"Authorization": f"Bearer {environment['token']}"}
        )
        with urllib.request.urlopen(  # noqa: ASYNC210 - one turn at a time is enough here
            asked, context=ssl.create_default_context(cadata=environment["ca"])
        ) as reply:
            count = len(json.load(reply)["items"])
        await event_queue.enqueue_event(new_text_message(f"There are {count} pods.", context_id=context.context_id))

    async def cancel(self, context, event_queue):
        raise NotImplementedError


card = AgentCard(name="pod-counter", description="Counts pods", version="1.0.0", capabilities=AgentCapabilities())
handler = DefaultRequestHandler(PodCounter(), InMemoryTaskStore(), card)
listening = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
server = uvicorn.Server(uvicorn.Config(Starlette(routes=create_jsonrpc_routes(handler, "/")), log_level="error"))
server.run(sockets=[listening])
