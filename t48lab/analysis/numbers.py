"""Numbers as tables and sentences say them."""

from __future__ import annotations

import math
from collections.abc import Callable


def whole(value: float) -> str:
    """The number without decimals, thousands apart; - for NaN."""
    return "-" if math.isnan(value) else f"{value:,.0f}".replace("-", "−")


def short(value: float) -> str:
    """The number to three digits; - for NaN."""
    if math.isnan(value):
        return "-"
    return whole(value) if abs(value) >= 100 else f"{value:.3g}".replace("-", "−")


def number(value: float | None) -> str:
    """The value in a few digits: whole from 1,000 up, else four significant ones; - for none."""
    if value is None:
        return "-"
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}").replace("-", "−")


def two(value: float) -> str:
    """The number to two decimals; - for NaN."""
    return "-" if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def percent(value: float) -> str:
    """The share in percent, one decimal below 10%; - for NaN."""
    if math.isnan(value):
        return "-"
    return f"{100 * value:.1f}%" if 0 < value < 0.0995 else f"{100 * value:.0f}%"


def with_interval(value: float, low: float, high: float, show: Callable[[float], str], to: str = "–") -> str:
    """The number with the ends of its interval, which `to` joins, " to " where one is negative; alone without one."""
    if math.isnan(low):
        return show(value)
    ends = show(low), show(high)
    joint = " to " if any("−" in end for end in ends) else to
    return f"{show(value)} ({joint.join(ends)})".replace("%–", "–")
