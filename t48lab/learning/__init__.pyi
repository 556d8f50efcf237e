from .nets import Net as Net
from .nets import open_net as open_net
from .nets import save_net as save_net
from .structure import STRUCTURES as STRUCTURES
from .structure import Structure as Structure
from .trainer import train as train
from .training import Training as Training
from .training import load_training as load_training
