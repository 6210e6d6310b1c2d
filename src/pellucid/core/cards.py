"""Method cards: the one place where a method says what belongs to it.

A card stands next to its method in a file whose name ends in ``_card``, in the tuple ``CARDS``. Parameter checks,
``verify``, ``show_work``, model files, catalogue, command and the universal tests read the cards; no list of methods
stands anywhere else.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from inspect import signature
from typing import Any, Protocol, cast

import numpy as np

from pellucid.core.card_index import ENDING, card_modules, entries, path_without_import
from pellucid.core.input_rules import LARGEST, InputRules, size_of
from pellucid.core.scale.row_blocks import RowBlocks
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.index import Proof, find_block_proof, find_proof
from pellucid.proofs.seen import Seen, refusal
from pellucid.proofs.training_data import TrainingData

WORK_DONE = "a count of the work done"
GAP_UP_TO_ROUNDING = "found again up to rounding, by the claim 'reported gap'"
LATER = "_later"
"""Under which name a model keeps how to compute what its fit left for later."""
SOLVER_THAT_RAN = "the name of the solver that ran; whichever it was, the answer is proved"


class Domain(Protocol):
    """What a parameter may be; see ``pellucid.core.kinds``."""

    def fits(self, value: Any) -> bool:
        """Return whether the value is allowed."""
        ...

    def complaint(self, name: str, value: Any) -> Exception:
        """Return the error that refuses the value."""
        ...


def _accept(_estimator: Any) -> None:
    return None


def _ask_nothing(_model: Any, _data: TrainingData | RowBlocks) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Trial:
    """How the universal tests try a method, where its defaults are slow, too long to write down, or meant otherwise."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """With which it fits forty rows, and soon: fewer trees, rounds, folds go the same way as many."""
    repeating: Mapping[str, Any] | None = field(default_factory=dict)
    """With which a weight is a repetition; None where rows are drawn, shuffled or put into a batch together."""
    own_floats: Mapping[str, str] = field(default_factory=dict)
    """Attributes and answers whose kind of float differs from scikit-learn's on purpose, each with the reason."""
    by_hand: Mapping[str, Any] = field(default_factory=dict)
    """Settings with which its workings are short."""
    rows: int = 12
    columns: int = 4
    classes: int = 3
    """The most that its workings have room for."""
    unlike_peer: str = ""
    """Why its workings are not those of scikit-learn's namesake."""
    many_rows: bool = False
    """Whether some of its loops run on thousands of rows only."""
    few_rows: bool = False
    """Whether its work grows with the square of the rows, or faster, so that its proof is timed on a tenth."""
    needs_library: str = ""
    """Why NumPy, SciPy and the model file do not suffice to prove it."""


@dataclass(frozen=True)
class MethodCard:
    """What belongs to one estimator."""

    estimator: type
    topics: tuple[str, ...]
    """Ids of the syllabus."""
    parameters: Mapping[str, Domain]
    """What each parameter may be, in the order in which they are checked."""
    attributes: Mapping[str, Any]
    """Kinds of the fitted attributes, without those that all estimators share."""
    input: InputRules | Callable[[Any], InputRules]
    """Rules for the training data, or a function of the estimator that returns them."""
    workings: str | None = None
    """``module:function`` that shows the work; imported on first use, as it brings SymPy."""
    check: Callable[[Any], None] = _accept
    """Refuses combinations of parameters that have no meaning, and warns of odd ones."""
    variants: tuple[Mapping[str, Any], ...] = ()
    """Other settings that the universal tests try beside the defaults."""
    asks: Callable[[Any, TrainingData], Mapping[str, Any]] = _ask_nothing
    """What a proof about answers, not only about attributes, needs to see: what the model says when asked."""
    asks_blocks: Callable[[Any, RowBlocks], Mapping[str, Any]] = _ask_nothing
    """The same where the proof makes passes over rows in blocks."""
    unproved: Mapping[str, str] = field(default_factory=dict)
    """Attributes that no answer depends on, so that ``verify`` may let a changed one pass, each with the reason."""
    free: Mapping[str, str] = field(default_factory=dict)
    """What the problem leaves open, so that a changed model is as right: the kind of change (a name in
    ``tests.forging``) and the words for it, which stand in every certificate."""
    squares: frozenset[str] = frozenset()
    """Attributes in squares of the units of the data, which are as large as these allow."""
    rebuilt: frozenset[str] = frozenset()
    """Attributes that no file stores, because ``rebuild`` makes them again from the others."""
    rebuild: Callable[[Any], None] = _accept
    when_asked: frozenset[str] = frozenset()
    """Attributes left for later that are proved once someone has asked for them: before, there is nothing to prove."""
    extra: str = ""
    """The extra without which it cannot be fitted."""
    tests: tuple[str, ...] = ()
    """Names of test files, where they are not named after the estimator's module."""
    trial: Trial = field(default_factory=Trial)
    meaning: str = ""
    """What a certificate that holds means to a user, as the end of a sentence; if empty, what its grade means."""
    take_for: str = ""
    """For what data and questions to take it, as the end of a sentence."""
    references: tuple[str, ...] = ()
    """Where it was published, or is explained best: author, title, place, year."""
    passes: str = ""
    """``module:function`` of ``(estimator, blocks, watch) -> Fit`` for rows in blocks; imported on first use."""
    device: str = ""
    """The module that answers for rows on a device, by functions with the names of the methods; behind a colon the one
    of ``(estimator, data, watch) -> Fit`` that fits them, where that is not done by blocks. Imported on first use."""
    onnx: str = ""
    """``module:function`` of ``(model, rows) -> answers`` that writes its answers as a graph; else the sentence that
    says why there is none. A method that answers about no new rows needs neither. Imported on first use."""
    proof: str = ""
    """``module:function`` of a proof that needs more than the trusted base, which knows all others by name."""

    @cached_property
    def prove(self) -> Proof:
        """The proof, imported on first use."""
        if not self.proof:
            return find_proof(self.name)
        module, name = self.proof.split(":")
        return cast("Proof", getattr(import_module(module), name))

    @property
    def name(self) -> str:
        """The registry name."""
        return self.estimator.__name__

    def check_parameters(self, estimator: Any) -> None:
        """Refuse the first parameter that is not what it may be."""
        defaults = _defaults(self.estimator)
        for name, domain in self.parameters.items():
            value = getattr(estimator, name)
            if value is not defaults.get(name, self) and not domain.fits(value):  # a default fits: every test fits one
                raise domain.complaint(name, value)
        self.check(estimator)

    def rules_for(self, estimator: Any) -> InputRules:
        """Return the rules for the data of an estimator with these parameters."""
        return self.input if isinstance(self.input, InputRules) else self.input(estimator)

    def proof_of(self, model: Any, data: TrainingData | RowBlocks) -> Certificate:
        """Return the certificate of a fitted model, recomputed from its numbers and the data, or passes over them."""
        if isinstance(data, TrainingData):
            return self._proved(self.prove, model, data, data.X, self.asks(model, data))
        with np.errstate(all="ignore"):  # as verify does: what overflows reads inf or nan
            return self._proved(find_block_proof(self.name), model, data, None, self.asks_blocks(model, data))

    def _proved(
        self, prove: Callable[..., Certificate], model: Any, data: Any, rows: Any, asked: Mapping[str, Any]
    ) -> Certificate:
        waiting = self.when_asked & (vars(model).get(LATER, {}).keys() - vars(model).keys())
        stored = self.attributes.keys() - waiting
        attributes = {name: getattr(model, name) for name in stored | self.rebuilt if hasattr(model, name)}
        own = (name for name in stored if attributes.get(name) is not rows)  # rows that a fit keeps were checked
        wrong = sorted(name for name in own if not self._may_be(name, attributes))
        if wrong:
            return refusal("attributes", f"not what a fit leaves: {', '.join(wrong)}")
        seen = Seen(**{name: _in_rows(value) for name, value in attributes.items()}, **asked)
        return self.named(prove(seen, Seen(**{name: getattr(model, name) for name in self.parameters}), data))

    def named(self, found: Certificate) -> Certificate:
        """Return the certificate with the words for what it leaves open."""
        if not self.free or found.grade == "none":
            return found
        words = f"Free, as the problem does not say: {'; '.join(self.free.values())}."
        return found if words in found.reason else replace(found, reason=f"{found.reason} {words}".strip())

    def _may_be(self, name: str, attributes: Mapping[str, Any]) -> bool:
        """Return whether an attribute is one that a fit may leave: there, of its dtype, finite, no overflow if squared.

        Kinds decide about floats only; labels may be of more kinds than a file can hold.
        """
        kind = self.attributes[name]
        is_optional = not hasattr(kind, "fits")
        if name not in attributes:
            return is_optional
        size = size_of(attributes[name])
        if size is None:
            return True
        if not (kind.kind if is_optional else kind).fits(attributes[name]):
            return False
        return size <= LARGEST or name in self.squares or np.isinf(size)


@cache
def _defaults(kind: type) -> Mapping[str, Any]:
    """Return the default of each parameter that has one."""
    given = signature(kind).parameters.values()
    return {one.name: one.default for one in given if one.default is not one.empty}


def _in_rows(value: Any) -> Any:
    """Return an array as a file would bring it, row after row.

    Sums round otherwise along columns, and the claims of a model and of its saved twin are to be the same numbers.
    """
    return np.ascontiguousarray(value) if isinstance(value, np.ndarray) and value.ndim else value


def card_of(kind: type) -> MethodCard:
    """Return the card of a class, or of its nearest ancestor that has one."""
    for ancestor in kind.__mro__:
        folder = ancestor.__module__.rpartition(".")[0]
        while folder.startswith("pellucid."):  # its own, then those above: a family of small methods has one file
            for card in _cards_in(folder):
                if card.estimator is ancestor:
                    return card
            folder = folder.rpartition(".")[0]
    raise LookupError(f"{kind.__name__} must have a method card, but none stands in its folder or above.")


def all_cards() -> Iterator[MethodCard]:
    """Yield the cards of every family, one family after the other: nothing is imported before it is asked for."""
    for module in card_modules():
        yield from import_module(module).CARDS


def find_card(name: str) -> MethodCard | None:
    """Return the card of this registry name; no other card is imported, but for those in the same file."""
    entry = entries().get(name)
    cards = import_module(entry.file).CARDS if entry else ()
    return next((card for card in cards if card.name == name), None)


@cache
def _cards_in(package: str) -> tuple[MethodCard, ...]:
    """Return the cards that stand in one folder."""
    found = pkgutil.iter_modules(path_without_import(package), f"{package}.")
    modules = [import_module(info.name) for info in found if info.name.endswith(ENDING)]
    return tuple(card for module in modules for card in module.CARDS)
