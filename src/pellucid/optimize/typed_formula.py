"""A formula that somebody typed into a page: its grammar is looked at before SymPy, which evaluates text, sees it."""

from __future__ import annotations

import ast
import re

FUNCTIONS = frozenset({"exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "Abs", "Max", "Min"})
CONSTANTS = frozenset({"pi", "E"})
VARIABLE = re.compile(r"[a-z]\d{0,2}")
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
SIGNS = (ast.UAdd, ast.USub)
LONGEST = 200
LARGEST_NUMBER = 1e9
LARGEST_POWER = 24
"""A constant to a constant power is worked out digit by digit: it must not take forever."""


def check_typed_formula(text: str) -> str:
    """Return the formula, powers written as ``**``; refuse what is more than numbers, variables and known functions.

    Examples
    --------
    >>> check_typed_formula("x^2 + exp(y)")
    'x**2 + exp(y)'
    >>> check_typed_formula("__import__('os')")
    Traceback (most recent call last):
    ValueError: formula must hold functions such as exp, log, sqrt, sin or Abs only, got __import__.
    """
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"formula must be a text such as 'x**2 + 3*y**2', got {text!r}.")
    if len(text) > LONGEST or not text.isascii():
        raise ValueError(f"formula must have at most {LONGEST} plain letters, got {len(text)} or others.")
    written = " ".join(text.split()).replace("^", "**")
    try:
        tree = ast.parse(written, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"formula must be written like 'x**2 + 3*x*y', got {text!r}.") from None
    _check(tree.body)
    return written


def _check(node: ast.expr) -> None:
    match node:
        case ast.BinOp(left, operator, right) if isinstance(operator, OPERATORS):
            _check(left)
            _check(right)
            if isinstance(operator, ast.Pow):
                _check_power(right)
        case ast.UnaryOp(sign, inside) if isinstance(sign, SIGNS):
            _check(inside)
        case ast.Call(ast.Name(name), arguments, []):
            if name not in FUNCTIONS:
                raise ValueError(f"formula must hold functions such as exp, log, sqrt, sin or Abs only, got {name}.")
            for argument in arguments:
                _check(argument)
        case ast.Name(name):
            if name not in CONSTANTS and not VARIABLE.fullmatch(name):
                raise ValueError(f"formula must have variables of one letter, such as x, y or w1, got {name}.")
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            if not abs(value) <= LARGEST_NUMBER:
                raise ValueError(f"formula must have numbers of at most {LARGEST_NUMBER:g}, got {value}.")
        case _:
            shown = ast.unparse(node)
            raise ValueError(f"formula must be made of numbers, variables, + - * / ** and functions, got {shown[:40]}.")


def _check_power(power: ast.expr) -> None:
    """Refuse a constant power that is large, or that is a tower of others."""
    inner = list(ast.walk(power))
    if any(isinstance(node, ast.Name) and node.id not in CONSTANTS | FUNCTIONS for node in inner):
        return  # with a variable in it, it is left as it is
    numbers = [node.value for node in inner if isinstance(node, ast.Constant)]
    is_large = any(isinstance(value, (int, float)) and abs(value) > LARGEST_POWER for value in numbers)
    if is_large or any(isinstance(node, (ast.Pow, ast.Mult, ast.Call)) for node in inner):
        shown = ast.unparse(power)
        raise ValueError(f"formula must have powers of at most {LARGEST_POWER}, got {shown[:40]}.")
