"""One module per rule, of the rule's name; `python -m lssc.pipeline.stages.code_points --help` shows what it takes.

Importing this package pins the linear algebra to one thread before numpy starts: times compare, and results do not
depend on the machine's cores. A command of a run then goes to the run's server.
"""

import os

from lssc.pipeline.server.client import hand_over

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[_variable] = "1"

hand_over()
