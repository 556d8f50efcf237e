"""Terms of one's own: a function of a line joins the terms that evaluators are built from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from t48lab.errors import T48Error
from t48lab.evaluators.blocks import Function, all_lines
from t48lab.evaluators.termkinds import LineTerm, Range
from t48lab.evaluators.terms import TERMS
from t48lab.kernels.layout import TABLE

USUAL = Range(0.01, 1000.0, log=True)


def line_term(
    name: str,
    weight: Range = USUAL,
    exponent: float | None = None,
    exponents: Range | None = None,
    source: str = "defined outside the package",
) -> Callable[[Function], Function]:
    """A decorator that adds a line term of your own, for evaluators to use by its name; raises T48Error.

    The function takes ranks, int64[n, cells], and the exponent if there is one, and returns float64[n]; its
    docstring is the definition. A name stands for one definition: results are kept by it, so a term that changes
    needs another one. Worker processes know the term only if they define it too; threads always do.
    """
    if not name.isidentifier():
        raise T48Error(f"a term's name is letters, digits and _, got {name!r}")

    def enter(function: Function) -> Function:
        take: Function = function if exponent is not None else lambda ranks, _: function(ranks)
        lines = all_lines(4)
        table = _checked(name, take(lines, exponent))
        known = TERMS.get(name)
        if known and not np.array_equal(known.table(exponent), table):  # type: ignore[arg-type]
            raise T48Error(f"there is a term {name!r} with another definition, choose another name")
        symmetric = np.array_equal(take(lines[:, ::-1], exponent), table)
        meaning = " ".join((function.__doc__ or "").split())
        TERMS[name] = LineTerm(name, meaning, source, symmetric, weight, take, exponent, exponents)
        return function

    return enter


def _checked(name: str, values: object) -> NDArray[np.float64]:
    """A term's values of all lines as float64[65536]; raises T48Error when they are something else."""
    table = np.asarray(values, np.float64)
    if table.shape != (TABLE,):
        raise T48Error(f"term {name!r} must give one number for each line, float64[{TABLE}], got shape {table.shape}")
    if not (finite := np.isfinite(table)).all():
        line = int(finite.argmin())
        ranks = " ".join(map(str, all_lines(4)[line]))
        raise T48Error(f"term {name!r} gives {table[line]} for the line of ranks {ranks}, a finite number is needed")
    return table
