"""Landmark sparse subspace clustering: the numerics and the pieces of the pipeline.

Points are rows here (X is n x D, codes are n x m), as everywhere in Python; the paper has them as columns.
"""

__version__ = "0.1.0"
