"""Our own provider service, and applications around it, over real sockets in a thread of their own."""

import asyncio
import threading
from concurrent.futures import Future

from kubesim.serving.server import bind_listener, serve_application
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.providers.service.control_plane import ControlPlane
from sirocco.providers.service.operations import Operations
from sirocco.providers.service.registry import Registry
from sirocco.wiring.clock import utc_now
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco.wiring.serving import served_environments

TOKEN = "control-token"


class Town(threading.Thread):
    """One simulator over TLS, and any number of control planes over it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.loop = asyncio.new_event_loop()
        self._ready: Future = Future()
        self._done = asyncio.Event()
        self._servers: list[asyncio.Task] = []
        self.profile, _ = required_profile(BUNDLED)
        self.simulator = None

    def run(self):
        self.loop.run_until_complete(self._live())

    async def _live(self):
        async with served_environments(self.profile, "127.0.0.1:0") as self.simulator:
            self._ready.set_result(None)
            await self._done.wait()
            # Each takes its time to end; together they take no more.
            await asyncio.gather(*self._servers)

    def __enter__(self):
        self.start()
        self._ready.result(30)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self._done.set)
        self.join(30)
        self.loop.close()

    def plane(self, provider=None, *, token=TOKEN, idle_seconds=3600.0, time=lambda: 0.0):
        """A control plane over the simulator, or over a provider around it, with environments of its own."""
        numbers = iter(range(1, 10_000))
        registry = Registry(
            provider or self.simulator,
            fresh_id=lambda: f"environment-{next(numbers)}",
            time=time,
            idle_seconds=idle_seconds,
            calls=lambda environment: getattr(environment, "calls", 0),
        )
        return ControlPlane(Operations(registry, utc_now, KUBERNETES), token)

    def serve(self, application):
        """The URL of an application that is now served."""
        return self.run_here(self._serve(application))

    def run_here(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    async def _serve(self, application):
        address = asyncio.get_running_loop().create_future()
        self._servers.append(asyncio.create_task(self._until_done(application, address)))
        return f"http://{await address}"

    async def _until_done(self, application, address):
        async with serve_application(application, bind_listener("127.0.0.1:0"), None) as found:
            address.set_result(found)
            await self._done.wait()
