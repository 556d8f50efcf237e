from .evaluator import Evaluator as Evaluator
from .evaluator import EvaluatorChoice as EvaluatorChoice
from .evaluator import PRESETS as PRESETS
from .evaluator import Term as Term
from .evaluator import get_evaluator as get_evaluator
from .ownterms import line_term as line_term
from .terms import Range as Range
from .terms import TERMS as TERMS
