"""One module per rule, of the rule's name; `python -m lssc.stages.code_points --help` shows what it takes.

Importing this package pins the linear algebra to one thread (LSSC_THREADS for another number) before numpy starts.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[_variable] = os.environ.get("LSSC_THREADS", "1")
