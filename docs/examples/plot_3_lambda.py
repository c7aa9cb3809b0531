"""
Lambda and sparsity
===================

The weight ``lam`` of the residual decides how many landmarks a point uses. If it is small, points have no code at all;
if it is large, codes fit the noise and use landmarks of other subspaces.
"""

# %%
# Five 6-dimensional subspaces of R^16, with noise. The true classes are used to judge the codes only.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from lssc import FSC
from lssc.metrics import scores

rng = np.random.default_rng(2)
classes = np.arange(3000) % 5
bases = np.linalg.qr(rng.normal(size=(5, 16, 6)))[0]
X = np.einsum("ij,ikj->ik", rng.normal(size=(3000, 6)), bases[classes]) + 0.25 * rng.normal(size=(3000, 16))

# %%
# ``codes_`` is a sparse matrix with a row for every point and a column for every landmark.
lams = np.geomspace(1.2, 300, 30)
nonzeros, uncoded, inside, accuracy = (np.empty(len(lams)) for _ in range(4))
for i, lam in enumerate(lams):
    with warnings.catch_warnings():
        # FSC warns if many points have no code, which is what this example shows.
        warnings.simplefilter("ignore")
        model = FSC(5, n_landmarks=200, lam=lam, random_state=0).fit(X)
    codes = abs(model.codes_).tocoo()
    own = classes[codes.row] == classes[model.landmark_indices_[codes.col]]
    nonzeros[i] = codes.nnz / len(X)
    uncoded[i] = np.mean(np.diff(model.codes_.indptr) == 0)
    inside[i] = codes.data[own].sum() / codes.data.sum()
    accuracy[i] = scores(classes, model.labels_)["accuracy"]

# %%
# ``lam="auto"``, the default, chooses a weight from the correlations between points. It knows no classes.
auto = FSC(5, n_landmarks=200, random_state=0).fit(X).lam_
print(f"lam {auto:.2f}")

# %%
# Accuracy has a broad top. To its left, points have too few landmarks to be connected, or none; to its right, more
# and more of the coefficients belong to landmarks of other subspaces.
figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
top.plot(lams, accuracy, color="#0173b2", linewidth=2.5, label="clustering accuracy")
top.plot(lams, inside, color="#029e73", label="weight on landmarks of the same subspace")
top.plot(lams, uncoded, color="#cc3311", label="points without a code")
top.set(ylabel="share", ylim=(-0.02, 1.02))
top.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.06))
bottom.plot(lams, nonzeros, color="0.25")
bottom.axhline(6, color="0.6", linestyle=":", label="dimension of the subspaces")
bottom.set(xscale="log", ylim=0, xlabel="lam", ylabel="landmarks in a code")
bottom.legend(frameon=False, loc="lower right")
bottom.set_xticks([2, 5, 10, 20, 50, 100, 200], [2, 5, 10, 20, 50, 100, 200])
bottom.minorticks_off()
for axes in (top, bottom):
    axes.axvline(auto, color="0.3", linewidth=1, linestyle="--")
    axes.grid(alpha=0.3)
top.text(auto * 1.04, 0.3, 'lam="auto"', color="0.3", rotation=90)
plt.show()
