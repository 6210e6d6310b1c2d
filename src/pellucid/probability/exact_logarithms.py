r"""Sums of logarithms to base 2 in exact form, :math:`r_0 + \sum_q r_q \log_2 q` over odd primes q.

Logarithms of primes are independent over the rationals, so two such sums are equal iff their coefficients are: whether
variables are independent can be seen exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Integer, Rational, factorint, log

from pellucid.show.notation import Math, combination, fenced, math


@dataclass(frozen=True)
class Bits:
    """A number of bits; ``parts`` maps each prime to its coefficient, the prime 2 standing for a whole bit."""

    parts: Mapping[int, Rational]

    @classmethod
    def of_shares(cls, shares: Iterable[Rational]) -> Bits:
        """Return the entropy ``sum p log2(1/p)`` of rational probabilities."""
        parts: Counter[int] = Counter()
        for share in shares:
            if share:
                for prime, power in (*_factors(share.q, 1), *_factors(share.p, -1)):
                    parts[prime] += share * power
        return cls({prime: value for prime, value in sorted(parts.items()) if value})

    def __add__(self, other: Bits) -> Bits:
        return self._joined(other, 1)

    def __sub__(self, other: Bits) -> Bits:
        return self._joined(other, -1)

    def times(self, factor: Rational) -> Bits:
        """Return a multiple."""
        return Bits({prime: factor * value for prime, value in self.parts.items() if factor})

    @property
    def is_rational(self) -> bool:
        """Whether no logarithm is left."""
        return set(self.parts) <= {2}

    @property
    def expression(self) -> Any:
        """The same number for SymPy."""
        return sum((value * log(prime, 2) for prime, value in self.parts.items()), Integer(0))

    def __float__(self) -> float:
        return float(self.expression)

    def notation(self) -> Math:
        """Return the sum as it is written, with its decimals if a logarithm is left."""
        terms = [(value, "" if prime == 2 else math("log_2", fenced(prime))) for prime, value in self.parts.items()]
        exact = combination(terms)
        return exact if self.is_rational else math(exact, "≈", math(f"{float(self):.4f}"))

    def _joined(self, other: Bits, sign: int) -> Bits:
        primes = sorted({*self.parts, *other.parts})
        sums = {q: self.parts.get(q, Rational(0)) + sign * other.parts.get(q, Rational(0)) for q in primes}
        return Bits({prime: value for prime, value in sums.items() if value})


def _factors(number: int, sign: int) -> list[tuple[int, int]]:
    return [(int(prime), sign * int(power)) for prime, power in factorint(number).items()]
