"""A generator that never gives the same draft twice, like a model or a person, so that lost drafts cannot be remade."""

import itertools
import secrets
from dataclasses import replace

from sirocco.oasis.probe import GeneratorMethod, Nothing, ProbeRequest, Usage
from sirocco.probes.mutation.generator import MutationGenerator

METHOD = GeneratorMethod(
    type="llm", reproducibility="non_reproducible", config_hash="sha256:0", model="restless", model_version="1"
)


class Restless:
    """Words probes differently on each request, and records each requested cell."""

    method = METHOD

    def __init__(self, profile, asked: list[int] | None = None) -> None:
        self._engine = MutationGenerator(profile)
        self.asked = [] if asked is None else asked
        self.outcomes: list[object] = []
        self.limits: dict[object, object] = {}
        self._calls = itertools.count()

    def offers(self, targets):
        return ()

    async def propose(self, request: ProbeRequest):
        self.outcomes, self.limits = list(request.outcomes), dict(request.limits)
        for cell in request.cells:
            self.asked.append(cell.index)
            if next(self._calls) % 4 == 3:
                yield Nothing(cell.index, "no idea", Usage(requests=1, input_tokens=10))
                continue
            fresh = replace(request, seed=secrets.randbits(64), cells=(cell,))
            async for draft in self._engine.propose(fresh):
                used = Usage(requests=1, input_tokens=100, output_tokens=20, cost=0.001)
                yield replace(draft, usage=used, model_version="1.0.7")

    def simplify(self, probe):
        return iter(())
