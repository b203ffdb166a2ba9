"""The public names: each is imported from its module when it is first used."""

from proprl.curriculum.explanation import Explanation as Explanation
from proprl.curriculum.graph import Edge as Edge
from proprl.curriculum.graph import PrerequisiteGraph as PrerequisiteGraph
from proprl.data import Course as Course
from proprl.data import LabelledPairs as LabelledPairs
from proprl.data import PairSplit as PairSplit
from proprl.data import bundled_courses as bundled_courses
from proprl.data import check_course as check_course
from proprl.data import load_course as load_course
from proprl.data import read_course as read_course
from proprl.data import write_course as write_course
from proprl.errors import BundleError as BundleError
from proprl.errors import CheckpointError as CheckpointError
from proprl.errors import CourseError as CourseError
from proprl.errors import DivergedError as DivergedError
from proprl.errors import FeatureError as FeatureError
from proprl.errors import MissingExtraError as MissingExtraError
from proprl.errors import MissingInputError as MissingInputError
from proprl.errors import OutputError as OutputError
from proprl.errors import Problem as Problem
from proprl.errors import ProprlError as ProprlError
from proprl.errors import PublicDataError as PublicDataError
from proprl.errors import SplitError as SplitError
from proprl.errors import TrainingError as TrainingError
from proprl.errors import UnknownConceptError as UnknownConceptError
from proprl.errors import UnknownMethodError as UnknownMethodError
from proprl.estimator import PrerequisiteModel as PrerequisiteModel
from proprl.estimator import ProPRL as ProPRL
from proprl.estimator import load_model as load_model
from proprl.features.encoders import encode as encode

__version__: str
