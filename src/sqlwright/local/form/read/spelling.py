"""One spelling for expressions and conditions that mean the same."""

from __future__ import annotations

from dataclasses import replace

from sqlwright.local.form import nodes as f


def split_pattern(pattern: str) -> tuple[f.LikeKind, str]:
    """A LIKE pattern as a kind and a phrase: plain for all kinds but `matches`."""
    starts, ends = pattern.endswith("%"), pattern.startswith("%")
    phrase = pattern[1 if ends else 0 : len(pattern) - 1 if starts else None]
    if not phrase or "%" in phrase or "_" in phrase or not (starts or ends):
        return "matches", pattern
    return ("contains" if starts and ends else "starts" if starts else "ends"), phrase


def negate(condition: f.Condition) -> f.Condition:
    """The opposite of a condition, without NOT where it has a form of its own."""
    if isinstance(condition, f.Between | f.InList | f.InQuery | f.Like | f.IsNull | f.Exists):
        return replace(condition, negated=not condition.negated)
    return f.Not(condition)


def ranges(operands: list[f.Condition]) -> list[f.Condition]:
    """`x >= a AND x <= b` side by side as BETWEEN."""
    result: list[f.Condition] = []
    for operand in operands:
        last = result[-1] if result else None
        if (
            isinstance(operand, f.Comparison)
            and isinstance(last, f.Comparison)
            and operand.left == last.left
            and {operand.operator, last.operator} == {">=", "<="}
        ):
            low, high = (last, operand) if last.operator == ">=" else (operand, last)
            result[-1] = f.Between(operand.left, low.right, high.right)
        else:
            result.append(operand)
    return result


def simplify(node: f.Arithmetic) -> f.Expression:
    """One spelling for real divisions: 1.0 * a / b, CAST(a AS REAL) / b, a * 100.0 / b."""
    if node.operator == "*":
        for factor, other in ((node.left, node.right), (node.right, node.left)):
            if factor == f.Literal(1.0):
                return f.Function("real", (other,))
    if node.operator != "/":
        return node
    left, right = node.left, node.right
    match left, right:
        case f.Function("real", (value,)), _:
            return f.Arithmetic("ratio", value, right)
        case f.Arithmetic("*", f.Function("real", (value,)), f.Literal(100 | 100.0)), _:
            return f.Arithmetic("percent", value, right)
        case f.Arithmetic("*", f.Literal(100 | 100.0), f.Function("real", (value,))), _:
            return f.Arithmetic("percent", value, right)
        case f.Arithmetic("*", f.Literal(float(100.0)), value), _:
            return f.Arithmetic("percent", value, right)
        case f.Arithmetic("*", value, f.Literal(float(100.0))), _:
            return f.Arithmetic("percent", value, right)
        case _, f.Function("real", (value,)):
            return f.Arithmetic("ratio", left, value)
        case _, f.Literal(float(value)) if value.is_integer() and value:
            return f.Arithmetic("ratio", left, f.Literal(int(value)))
    return node
