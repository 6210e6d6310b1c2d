"""Where the data of a figure fall between its edges."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.workings.document import Figure


@dataclass(frozen=True)
class Scale:
    """A range of data values, mapped to 0..1."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return the value as a fraction of the range."""
        return (value - self.low) / (self.high - self.low)

    @property
    def low_text(self) -> str:
        """The lower edge as it is printed."""
        return f"{self.low:.4g}".replace("-", "−")

    @property
    def high_text(self) -> str:
        """The upper edge as it is printed."""
        return f"{self.high:.4g}".replace("-", "−")


def scales(figure: Figure) -> tuple[Scale, Scale]:
    """Return the horizontal and the vertical scale that hold all data."""
    return _range([x for s in figure.series for x in s.x]), _range([y for s in figure.series for y in s.y])


def _range(values: list[float]) -> Scale:
    low, high = min(values), max(values)
    return Scale(low, high) if low < high else Scale(low - 1, high + 1)
