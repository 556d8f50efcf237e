"""Evaluators where one is named: a preset's name, a file, plain data, or the record itself."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Annotated

from pydantic import PlainValidator, SerializeAsAny

from t48lab.errors import T48Error
from t48lab.evaluators import presets
from t48lab.evaluators.base import EVALUATORS, BaseEvaluator
from t48lab.evaluators.evaluator import Evaluator
from t48lab.evaluators.net import LEARNED, Net
from t48lab.records import nearest
from t48lab.specs import Resolved

_LONGEST_STEM = 24

PRESETS: dict[str, BaseEvaluator] = {name: Evaluator(**data) for name, (_, data) in presets.PRESETS.items()}
"""Evaluators that are sums of terms by name; `presets.py` says what each is."""
NET = "learned"
"""The name of the package's net."""


def get_evaluator(choice: str | Path | BaseEvaluator) -> BaseEvaluator:
    """The evaluator itself, the preset of that name, or the one in a file; raises T48Error.

    A file is read by the kind of evaluator that has files of its ending, and as TOML otherwise.
    """
    if isinstance(choice, BaseEvaluator):
        return choice
    if isinstance(choice, str) and choice.lower() == NET:
        return _learned(LEARNED)
    if isinstance(choice, str) and choice.lower() in PRESETS:
        return PRESETS[choice.lower()]
    if is_path(choice):
        made = _file_kinds().get(Path(choice).suffix, BaseEvaluator).from_file(choice)
        made.__dict__["origin"] = re.sub(r"[^\w-]", "_", Path(choice).stem, flags=re.ASCII)[:_LONGEST_STEM]
        return made
    remedy = nearest(str(choice), [*PRESETS, NET])
    raise T48Error(f"no evaluator {choice!r}, {remedy}; a file of weights ends in .toml, one of a net in .net")


@functools.cache
def _learned(path: Path) -> Net:
    if not path.exists():
        raise T48Error(f"{path} is missing: install t48lab again, or give the path of a net of your own")
    return Net(path=str(path))


def is_path(choice: object) -> bool:
    """Whether a choice means a file."""
    return isinstance(choice, Path) or (
        isinstance(choice, str) and ("/" in choice or choice.endswith((".toml", *_file_kinds())))
    )


def _file_kinds() -> dict[str, type[BaseEvaluator]]:
    """Kinds of evaluators that have files of their own, by the ending of these."""
    return {kind.suffix: kind for kind in EVALUATORS.values() if kind.suffix}


def evaluator_choice(value: object) -> str | BaseEvaluator:
    """A preset's name, or an evaluator read from a file, an object or a mapping; equal presets go by name."""
    if isinstance(value, str) and (value in PRESETS or (value == NET and get_evaluator(value))):
        return value
    made = BaseEvaluator.from_data(value) if isinstance(value, dict) else get_evaluator(value)  # type: ignore[arg-type]
    return next((name for name, preset in PRESETS.items() if preset == made), made)


EvaluatorChoice = Annotated[
    str | SerializeAsAny[BaseEvaluator], PlainValidator(evaluator_choice), Resolved(get_evaluator)
]
