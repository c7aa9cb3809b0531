"""
Refined subspaces
=================

:class:`lssc.RefinedFSC` starts from landmark codes, fits an affine subspace to each cluster, and moves points to the
nearest one. Compare it with :class:`lssc.FSC` on handwritten digits.
"""

# %%
# Both methods with their default parameters, from ten seeds, on scikit-learn's 1,797 digits.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix

from lssc import FSC, RefinedFSC
from lssc.metrics import scores

X, classes = load_digits(return_X_y=True)
methods = {"FSC": FSC, "RefinedFSC": RefinedFSC}
accuracy, labels = {}, {}
for name, method in methods.items():
    runs = [method(n_clusters=10, random_state=seed).fit_predict(X) for seed in range(10)]
    accuracy[name] = [scores(classes, run)["accuracy"] for run in runs]
    labels[name] = runs[np.argsort(accuracy[name])[5]]
    print(f"{name}: accuracy {np.min(accuracy[name]):.3f} to {np.max(accuracy[name]):.3f}")


# %%
# Digits against clusters in a run of median accuracy, with clusters sorted to match: off the diagonal are images in the
# wrong cluster.
def matched(labels):
    """The confusion matrix, with the clusters in the order of the digits that they hold."""
    from scipy.optimize import linear_sum_assignment

    counts = confusion_matrix(classes, labels)
    return counts[:, linear_sum_assignment(-counts)[1]]


figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", width_ratios=[5, 5, 4])
for place, name in zip(axes, methods, strict=False):
    counts = matched(labels[name])
    place.imshow(counts, cmap="Blues", vmax=180)
    for i, j in np.argwhere(counts >= 10):
        place.text(j, i, counts[i, j], ha="center", va="center", size=7, color="white" if counts[i, j] > 90 else "0")
    place.set(title=name, xlabel="cluster", ylabel="digit", xticks=[], yticks=range(10))
for i, (name, colour) in enumerate(zip(methods, ("0.45", "#0173b2"), strict=True)):
    axes[2].plot(i + np.linspace(-0.12, 0.12, 10), accuracy[name], "o", color=colour, alpha=0.8)
axes[2].set(title="Accuracy, ten runs", xlim=(-0.5, 1.5), xticks=[0, 1], xticklabels=methods)
axes[2].grid(axis="y", alpha=0.3)
plt.show()
