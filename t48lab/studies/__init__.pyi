from .figures import panels as panels
from .outcomes import tune as tune
from .storage import Storage as Storage
from .study import load_study as load_study
from .table import trials_frame as trials_frame
from .tuning import open_study as open_study
from .tuning import run_trials as run_trials
