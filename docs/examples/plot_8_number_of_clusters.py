"""
How many clusters?
==================

With ``n_clusters=None`` an estimator counts the clusters itself: by the largest gap between successive singular values
of the embedding. :func:`lssc.plot_eigengaps` shows how clear the answer is.
"""

# %%
# Six 4-dimensional subspaces of R^25, with three levels of noise.
import matplotlib.pyplot as plt
import numpy as np

from lssc import FSC, plot_eigengaps
from lssc.metrics import scores

rng = np.random.default_rng(0)
classes = np.arange(3000) % 6
bases = np.linalg.qr(rng.normal(size=(6, 25, 4)))[0]
clean = np.einsum("ij,ikj->ik", rng.normal(size=(3000, 4)), bases[classes])
noise = rng.normal(size=clean.shape)

models = {}
for level in (0.1, 0.3, 0.5):
    models[level] = FSC(n_clusters=None, random_state=0).fit(clean + level * noise)
    accuracy = scores(classes, models[level].labels_)["accuracy"]
    print(f"noise {level}: {models[level].n_clusters_} clusters, accuracy {accuracy:.3f}")

# %%
# The orange bar is the estimate. With little noise it stands alone; with much, others are as high, and the estimate is
# luck. The bar at 1 does not count, and is cut off: it is high for every connected graph.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
for axes, (level, model) in zip(panels, models.items(), strict=True):
    plot_eigengaps(model, ax=axes)
    axes.set(title=f"noise {level}", xticks=range(1, 21, 3))
panels[0].set_ylim(0, 0.08)
for axes in panels[1:]:
    axes.set_ylabel("")
plt.show()
