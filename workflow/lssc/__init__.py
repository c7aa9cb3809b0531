"""Large-scale sparse subspace clustering: a library of parts, and the pipeline that compares them.

Points are rows (X is n x D, codes are n x m); in the paper they are columns.
"""

__version__ = "0.1.0"
