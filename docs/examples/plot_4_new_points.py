"""
Predicting new points
=====================

A fitted :class:`lssc.FSC` labels points that it has not seen: it codes them by its landmarks, maps the codes to the
spectral coordinates of training, and takes the nearest centre. No graph is built again.
"""

# %%
# Train on 2,000 points of four 5-dimensional subspaces of R^30; 20,000 others arrive later.
import matplotlib.pyplot as plt
import numpy as np

from lssc import FSC
from lssc.metrics import scores

rng = np.random.default_rng(0)
bases = np.linalg.qr(rng.normal(size=(4, 30, 5)))[0]


def draw_points(n):
    """Noisy points of the four subspaces, and their classes."""
    classes = rng.integers(4, size=n)
    X = np.einsum("ij,ikj->ik", rng.normal(size=(n, 5)), bases[classes])
    return X + 0.15 * rng.normal(size=X.shape), classes


X, classes = draw_points(2000)
X_new, classes_new = draw_points(20_000)
model = FSC(n_clusters=4, random_state=0).fit(X)
labels_new = model.predict(X_new)
print(f"accuracy: training points {scores(classes, model.labels_)['accuracy']:.3f}", end=", ")
print(f"new points {scores(classes_new, labels_new)['accuracy']:.3f}")

# %%
# How many training points are enough? Each model labels the same new points.
counts = [50, 100, 200, 500, 1000, 2000]
trained, predicted = [], []
for n in counts:
    small = FSC(n_clusters=4, random_state=0).fit(X[:n])
    trained.append(scores(classes[:n], small.labels_)["accuracy"])
    predicted.append(scores(classes_new, small.predict(X_new))["accuracy"])

# %%
# ``transform`` gives the coordinates of new points: they fall onto the clusters of the training points.
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
palette = np.array(["#0173b2", "#de8f05", "#029e73", "#cc78bc"])
new = model.transform(X_new[:1500])
left.scatter(*new[:, 1:3].T, c=palette[labels_new[:1500]], s=5, alpha=0.5, linewidths=0, label="new")
left.scatter(*model.embedding_[:300, 1:3].T, c="black", s=7, linewidths=0, label="training")
left.set(title="Spectral coordinates", xlabel="2nd coordinate", ylabel="3rd coordinate", xticks=[], yticks=[])
left.legend(frameon=False, markerscale=2)
right.plot(counts, trained, "o--", color="0.5", label="training points")
right.plot(counts, predicted, "o-", color="#0173b2", label="20,000 new points")
right.set(title="Accuracy", xscale="log", xlabel="training points", ylabel="clustering accuracy")
right.set_xticks(counts, counts)
right.minorticks_off()
right.grid(alpha=0.3)
right.legend(frameon=False)
plt.show()
