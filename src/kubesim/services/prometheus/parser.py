"""A PromQL query parsed into its parts; errors are worded as in Prometheus."""

from collections.abc import Mapping, Sequence
from math import inf, nan

from kubesim.services.prometheus.errors import QueryError
from kubesim.services.prometheus.patterns import pattern
from kubesim.services.prometheus.syntax import (
    Aggregation,
    Function,
    Kind,
    Matcher,
    Negation,
    Node,
    Number,
    Operator,
    Selector,
    Subquery,
    Text,
)
from kubesim.services.prometheus.tokens import Token, duration, tokens, unquote_text

AGGREGATIONS = frozenset({
    "sum", "avg", "min", "max", "count", "group", "stddev", "stdvar", "topk", "bottomk", "quantile", "count_values",
})  # fmt: skip
_PARAMETERS: Mapping[str, Kind] = {
    "topk": Kind.SCALAR, "bottomk": Kind.SCALAR, "quantile": Kind.SCALAR, "count_values": Kind.STRING,
}  # fmt: skip
COMPARISONS = frozenset({"==", "!=", ">", "<", ">=", "<="})
SET_OPERATORS = frozenset({"and", "or", "unless"})
_PRECEDENCE = {
    "or": 1, "and": 2, "unless": 2, **dict.fromkeys(COMPARISONS, 3), "+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "^": 7,
}  # fmt: skip
_UNARY = 6
_DEEPEST = 100
_SCALAR, _TEXT, _VECTOR, _MATRIX = Kind.SCALAR, Kind.STRING, Kind.VECTOR, Kind.MATRIX
_OVER_TIME = ("avg", "min", "max", "sum", "count", "last", "stddev", "stdvar", "present", "absent")
_OF_A_RANGE = (
    "rate", "irate", "increase", "delta", "idelta", "deriv", "changes", "resets",
    *(f"{part}_over_time" for part in _OVER_TIME),
)  # fmt: skip
_OF_A_VECTOR = (
    "abs", "ceil", "floor", "exp", "ln", "log2", "log10", "sqrt", "sgn", "sort", "sort_desc", "absent", "timestamp",
)  # fmt: skip
FUNCTIONS: Mapping[str, tuple[tuple[Kind, ...], int, Kind]] = {
    **dict.fromkeys(_OF_A_RANGE, ((_MATRIX,), 1, _VECTOR)),
    **dict.fromkeys(_OF_A_VECTOR, ((_VECTOR,), 1, _VECTOR)),
    "predict_linear": ((_MATRIX, _SCALAR), 2, _VECTOR),
    "quantile_over_time": ((_SCALAR, _MATRIX), 2, _VECTOR),
    "round": ((_VECTOR, _SCALAR), 1, _VECTOR),
    "clamp": ((_VECTOR, _SCALAR, _SCALAR), 3, _VECTOR),
    "clamp_min": ((_VECTOR, _SCALAR), 2, _VECTOR),
    "clamp_max": ((_VECTOR, _SCALAR), 2, _VECTOR),
    "histogram_quantile": ((_SCALAR, _VECTOR), 2, _VECTOR),
    "label_replace": ((_VECTOR, _TEXT, _TEXT, _TEXT, _TEXT), 5, _VECTOR),
    "scalar": ((_VECTOR,), 1, _SCALAR),
    "vector": ((_SCALAR,), 1, _VECTOR),
    "time": ((), 0, _SCALAR),
}  # fmt: skip
"""The parameters of each function, how many are required, and the kind of its result."""


def parse(query: str) -> Node:
    """The query's parts; raise QueryError if it cannot be read."""
    reader = _Reader(list(tokens(query)))
    if not reader.peek().kind:
        raise QueryError("no expression found in input")
    node = reader.expression()
    if reader.peek().kind:
        raise reader.unexpected_error()
    return node


def selectors(node: Node) -> list[Selector]:
    """Every selector in a query."""
    match node:
        case Selector():
            return [node]
        case Subquery() | Negation():
            return selectors(node.expression)
        case Function():
            return [found for argument in node.arguments for found in selectors(argument)]
        case Aggregation():
            return [*(selectors(node.parameter) if node.parameter else ()), *selectors(node.expression)]
        case Operator():
            return [*selectors(node.left), *selectors(node.right)]
    return []


class _Reader:
    def __init__(self, found: Sequence[Token]) -> None:
        self._tokens = found
        self._at = 0
        self._depth = 0
        self._depths: dict[int, int] = {}

    def peek(self, ahead: int = 0) -> Token:
        """The next word, or one after it."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def expression(self, least: int = 1) -> Node:
        """An expression whose operators bind at least this tightly."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise QueryError("expression nests too deeply", self.peek().position)
        left = self._unary()
        while (name := self._operator()) and (binding := _PRECEDENCE[name]) >= least:
            position = self.peek().position
            self._at += 1
            modifiers = self._modifiers(name)
            right = self.expression(binding if name == "^" else binding + 1)
            left = self._limit_depth(_operation(name, left, right, modifiers, position), left, right)
        self._depth -= 1
        return left

    def unexpected_error(self, where: str = "") -> QueryError:
        """The complaint about the next word."""
        token = self.peek()
        return QueryError(f"unexpected {token}{f' in {where}' if where else ''}", token.position)

    def _limit_depth(self, node: Node, *parts: Node) -> Node:
        """The node, unless it nests too many others: chains of operators nest to the left."""
        depth = 1 + max((self._depths.get(id(part), 0) for part in parts), default=0)
        if depth > _DEEPEST:
            raise QueryError("expression nests too deeply", self.peek().position)
        self._depths[id(node)] = depth
        return node

    def _operator(self) -> str:
        text = self.peek().text.lower()
        return text if text in _PRECEDENCE and self.peek().kind in {"sign", "word"} else ""

    def _modifiers(self, name: str) -> dict[str, object]:
        found: dict[str, object] = {}
        if self._word("bool"):
            if name not in COMPARISONS:
                raise QueryError("bool modifier can only be used on comparison operators", self.peek().position)
            found["returns_bool"] = True
        if self._word("on"):
            found["on"] = frozenset(self._names())
        elif self._word("ignoring"):
            found["ignoring"] = frozenset(self._names())
        for word, side in (("group_left", "left"), ("group_right", "right")):
            if self._word(word):
                found["many"] = side
                found["included"] = tuple(self._names()) if self.peek().text == "(" else ()
        return found

    def _unary(self) -> Node:
        token = self.peek()
        if token.text in {"+", "-"} and token.kind == "sign":
            self._at += 1
            operand = self.expression(_UNARY)
            if operand.kind not in {_SCALAR, _VECTOR}:
                text = (
                    f"unary expression only allowed on expressions of type scalar or instant vector, got {operand.kind}"
                )
                raise QueryError(f'"{text}"', token.position)
            return operand if token.text == "+" else self._limit_depth(Negation(operand, operand.kind), operand)
        return self._read_suffixes(self._read_primary(), token.position)

    def _read_suffixes(self, node: Node, position: int) -> Node:
        """A part with its range, subquery or offset."""
        while True:
            if self._sign("["):
                node = self._read_range(node, position)
            elif self._word("offset"):
                if not isinstance(node, Selector | Subquery):
                    text = "offset modifier must be preceded by an instant vector selector or range vector selector"
                    raise QueryError(f"{text} or a subquery", position)
                sign = -1.0 if self._sign("-") else 1.0
                node = self._limit_depth(_with_offset(node, sign * self._duration("offset")), node)
            else:
                return node

    def _read_range(self, node: Node, position: int) -> Node:
        length = self._duration("range")
        if length <= 0:
            raise QueryError("duration must be greater than 0", position)
        if self._sign(":"):
            step = None if self.peek().text == "]" else self._duration("subquery selector")
            self._expect("]", "subquery selector")
            if node.kind is not _VECTOR and node.kind is not _SCALAR:
                raise QueryError(f"subquery is only allowed on instant vector, got {node.kind} instead", position)
            return self._limit_depth(Subquery(node, length, step or None), node)
        self._expect("]", "matrix selector")
        if not isinstance(node, Selector) or node.range is not None:
            raise QueryError("ranges only allowed for vector selectors", position)
        return Selector(node.matchers, length, node.offset)

    def _read_primary(self) -> Node:
        token = self.peek()
        match token.kind:
            case "number":
                self._at += 1
                base = 16 if token.text[:2].lower() == "0x" else 10
                return Number(float(int(token.text, 16)) if base == 16 else float(token.text))
            case "text":
                self._at += 1
                return Text(unquote_text(token.text))
            case "word":
                return self._read_named(token)
        if self._sign("("):
            node = self.expression()
            self._expect(")", "paren expression")
            return node
        if token.text == "{":
            return self._selector("")
        raise self.unexpected_error()

    def _read_named(self, token: Token) -> Node:
        name, lower = token.text, token.text.lower()
        following = self.peek(1).text
        if lower in AGGREGATIONS and (following == "(" or following.lower() in {"by", "without"}):
            return self._aggregation(lower)
        if following == "(":
            return self._function(token)
        self._at += 1
        if lower in {"inf", "nan"}:
            return Number(inf if lower == "inf" else nan)
        return self._selector(name)

    def _aggregation(self, name: str) -> Node:
        self._at += 1
        grouping = self._grouping()
        position = self.peek().position
        arguments = self._arguments()
        grouping = grouping or self._grouping() or (frozenset(), False)
        wanted = _PARAMETERS.get(name)
        if len(arguments) != (1 if wanted is None else 2):
            text = f"wrong number of arguments for aggregate expression provided, expected {1 if wanted is None else 2}"
            raise QueryError(f"{text}, got {len(arguments)}", position)
        parameter = arguments[0] if wanted else None
        if parameter is not None:
            _require(parameter, wanted, f"in aggregation parameter {name}", position)
        _require(arguments[-1], _VECTOR, "in aggregation expression", position)
        labels, without = grouping
        return self._limit_depth(Aggregation(name, arguments[-1], parameter, labels, without), *arguments)

    def _grouping(self) -> tuple[frozenset[str], bool] | None:
        for word in ("by", "without"):
            if self._word(word):
                return frozenset(self._names()), word == "without"
        return None

    def _function(self, token: Token) -> Node:
        name = token.text
        if name not in FUNCTIONS:
            raise QueryError(f'unknown function with name "{name}"', token.position)
        self._at += 1
        arguments = self._arguments()
        kinds, least, result = FUNCTIONS[name]
        if not least <= len(arguments) <= len(kinds):
            bound = "at most " if len(arguments) > len(kinds) and least < len(kinds) else ""
            count = len(kinds) if len(arguments) > len(kinds) else least
            text = f'expected {bound}{count} argument(s) in call to "{name}", got {len(arguments)}'
            raise QueryError(text, token.position)
        for argument, kind in zip(arguments, kinds, strict=False):
            _require(argument, kind, f'in call to function "{name}"', token.position)
        if name == "label_replace" and isinstance(arguments[4], Text):
            pattern(arguments[4].value)
        return self._limit_depth(Function(name, arguments, result), *arguments)

    def _arguments(self) -> tuple[Node, ...]:
        self._expect("(", "aggregation")
        found: list[Node] = []
        while not self._sign(")"):
            if found:
                self._expect(",", "function call")
            found.append(self.expression())
        return tuple(found)

    def _names(self) -> list[str]:
        self._expect("(", "grouping opts")
        found: list[str] = []
        while not self._sign(")"):
            token = self.peek()
            if token.kind != "word" or ":" in token.text:
                raise self.unexpected_error("grouping opts, expected label")
            self._at += 1
            found.append(token.text)
            if not self._sign(",") and self.peek().text != ")":
                raise self.unexpected_error('grouping opts, expected "," or ")"')
        return found

    def _selector(self, name: str) -> Node:
        position = self.peek().position
        matchers = [_matcher("__name__", "=", name)] if name else []
        if self._sign("{"):
            while not self._sign("}"):
                matchers.append(self._label_matcher())
                if not self._sign(",") and self.peek().text != "}":
                    raise self.unexpected_error('label matching, expected "," or "}"')
        if all(matcher.test("") for matcher in matchers):
            raise QueryError("vector selector must contain at least one non-empty matcher", position)
        return Selector(tuple(matchers))

    def _label_matcher(self) -> Matcher:
        label = self.peek()
        if label.kind != "word" or ":" in label.text:
            raise self.unexpected_error('label matching, expected identifier or "}"')
        self._at += 1
        sign = self.peek()
        if sign.text not in {"=", "!=", "=~", "!~"}:
            raise self.unexpected_error("label matching, expected label matching operator")
        self._at += 1
        value = self.peek()
        if value.kind != "text":
            raise self.unexpected_error("label matching, expected string")
        self._at += 1
        try:
            return _matcher(label.text, sign.text, unquote_text(value.text))
        except QueryError as error:
            raise QueryError(str(error), value.position) from error

    def _duration(self, where: str) -> float:
        token = self.peek()
        seconds = duration(token.text) if token.kind == "duration" else None
        if seconds is None:
            raise self.unexpected_error(f"{where}, expected duration")
        self._at += 1
        return seconds

    def _sign(self, text: str) -> bool:
        token = self.peek()
        if token.kind == "sign" and token.text == text:
            self._at += 1
            return True
        return False

    def _word(self, text: str) -> bool:
        token = self.peek()
        if token.kind == "word" and token.text.lower() == text:
            self._at += 1
            return True
        return False

    def _expect(self, text: str, where: str) -> None:
        if not self._sign(text):
            raise self.unexpected_error(f'{where}, expected "{text}"')


def _matcher(label: str, operator: str, value: str) -> Matcher:
    if operator in {"=~", "!~"}:
        matches = pattern(value).matches
        return Matcher(label, operator, value, matches if operator == "=~" else lambda text: not matches(text))
    if operator == "=":
        return Matcher(label, operator, value, lambda text: text == value)
    return Matcher(label, operator, value, lambda text: text != value)


def _with_offset(node: Selector | Subquery, seconds: float) -> Selector | Subquery:
    if isinstance(node, Selector):
        return Selector(node.matchers, node.range, node.offset + seconds)
    return Subquery(node.expression, node.range, node.step, node.offset + seconds)


def _operation(name: str, left: Node, right: Node, modifiers: Mapping[str, object], position: int) -> Operator:
    scalars = [part.kind is _SCALAR for part in (left, right)]
    for part in (left, right):
        if part.kind not in {_SCALAR, _VECTOR}:
            text = f"binary expression must contain only scalar and instant vector types, got {part.kind}"
            raise QueryError(text, position)
    if name in SET_OPERATORS and any(scalars):
        raise QueryError(f'set operator "{name}" not allowed in binary scalar expression', position)
    if name in COMPARISONS and all(scalars) and "returns_bool" not in modifiers:
        raise QueryError("comparisons between scalars must use BOOL modifier", position)
    if any(scalars) and {"on", "ignoring", "many"} & modifiers.keys():
        raise QueryError("vector matching only allowed between instant vectors", position)
    if name in SET_OPERATORS and "many" in modifiers:
        raise QueryError(f'no grouping allowed for "{name}" operation', position)
    return Operator(name, left, right, _SCALAR if all(scalars) else _VECTOR, **modifiers)  # type: ignore[arg-type]


def _require(node: Node, kind: Kind | None, where: str, position: int) -> None:
    if node.kind is not kind:
        raise QueryError(f"expected type {kind} {where}, got {node.kind}", position)
