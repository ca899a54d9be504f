"""The steps from one list to another as the server's library finds them: not the fewest, but always the same ones."""

from collections.abc import Callable
from enum import Enum

Result = Callable[[int, int], tuple[int, int]]
"""How many parts of two elements, given by their positions, are equal and how many differ."""


class Edit(Enum):
    """One step."""

    KEPT = 0
    REMOVED = 1
    INSERTED = 2
    CHANGED = 3


class _Path:
    """Steps from one corner of the two lists towards the other."""

    def __init__(self, direction: int, left: int, right: int, result: Result) -> None:
        self.direction = direction
        self.left = left
        self.right = right
        self.steps: list[Edit] = []
        self._result = result

    def path_from(self, left: int, right: int) -> "_Path":
        """A path of the same direction that starts elsewhere."""
        return _Path(self.direction, left, right, self._result)

    def append(self, step: Edit) -> None:
        self.steps.append(step)
        self.left += self.direction * (step is not Edit.INSERTED)
        self.right += self.direction * (step is not Edit.REMOVED)

    def is_equal(self) -> bool:
        """Whether the next two elements are equal."""
        return self._next_result()[1] == 0

    def _next_result(self) -> tuple[int, int]:
        offset = 0 if self.direction > 0 else -1
        return self._result(self.left + offset, self.right + offset)

    def connect(self, left: int, right: int) -> None:
        """Advance to a position, first by changing elements that are alike, then by removing and inserting."""
        while self._ahead_left(left) > 0 and self._ahead_right(right) > 0:
            same, different = self._next_result()
            lefts, rights = self._ahead_left(left), self._ahead_right(right)
            if different == 0:
                self.append(Edit.KEPT)
            elif same + 1 >= different:
                self.append(Edit.CHANGED)
            elif lefts > rights or (lefts == rights and self.direction > 0):
                self.append(Edit.REMOVED)
            else:
                self.append(Edit.INSERTED)
        while self._ahead_left(left) > 0:
            self.append(Edit.REMOVED)
        while self._ahead_right(right) > 0:
            self.append(Edit.INSERTED)

    def _ahead_left(self, left: int) -> int:
        return self.direction * (left - self.left)

    def _ahead_right(self, right: int) -> int:
        return self.direction * (right - self.right)


def edits(lefts: int, rights: int, result: Result) -> list[Edit]:
    """The steps from a list of `lefts` elements to one of `rights`, searched from both ends."""
    forward, backward = _Path(1, 0, 0, result), _Path(-1, lefts, rights, result)
    start, end = (0, 0), (lefts, rights)
    budget = [4 * (lefts + rights)]
    while start[0] < end[0] and start[1] < end[1] and budget[0] > 0:
        start = _search_diagonal(forward, backward, start, budget)
        is_wide = backward.left - start[0] >= backward.right - start[1]
        start = (start[0] + is_wide, start[1] + (not is_wide))
        if start[0] >= end[0] or start[1] >= end[1] or budget[0] == 0:
            break
        end = _search_diagonal(backward, forward, end, budget)
        is_wide = end[0] - forward.left >= end[1] - forward.right
        end = (end[0] - is_wide, end[1] - (not is_wide))
    forward.connect(backward.left, backward.right)
    return [*forward.steps, *reversed(backward.steps)]


def _search_diagonal(path: _Path, opposite: _Path, frontier: tuple[int, int], budget: list[int]) -> tuple[int, int]:
    """Search the diagonal through the frontier for equal elements; follow those found, and say where that led."""
    stopped = [False, False]
    # The same random bit decides where the forward search starts and which spaces the layout uses.
    turn = 1 if path.direction > 0 else 0
    while not all(stopped) and budget[0] > 0:
        shift = (turn >> 1) if turn % 2 == 0 else -((turn + 1) >> 1)
        turn += 1
        left, right = frontier[0] + path.direction * shift, frontier[1] - path.direction * shift
        if path.direction * (left - opposite.left) >= 0 or path.direction * (right - path.right) < 0:
            stopped[0] = True
        elif path.direction * (right - opposite.right) >= 0 or path.direction * (left - path.left) < 0:
            stopped[1] = True
        elif _matches(path, left, right):
            path.connect(left, right)
            path.append(Edit.KEPT)
            while _is_open(path, opposite) and path.is_equal():
                path.append(Edit.KEPT)
            return path.left, path.right
        else:
            budget[0] -= 1
    return frontier


def _matches(path: _Path, left: int, right: int) -> bool:
    return path.path_from(left, right).is_equal()


def _is_open(path: _Path, opposite: _Path) -> bool:
    return path.direction * (opposite.left - path.left) > 0 and path.direction * (opposite.right - path.right) > 0
