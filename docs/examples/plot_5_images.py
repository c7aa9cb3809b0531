"""
Your own images
===============

Images are points, too: one row of pixels each. Here they are the 1,797 handwritten digits that scikit-learn brings
along; replace them by an array of your own images, n x height x width.
"""

# %%
# Each image becomes a row of pixels.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from lssc import RefinedFSC
from lssc.metrics import scores

digits = load_digits()
images, classes = digits.images, digits.target
X = images.reshape(len(images), -1)

# %%
# Runs from different seeds differ. ``score_samples`` is the log density of each point under the fitted subspaces: the
# run of the highest mean explains the images best. This needs no classes; they are printed to judge the choice.
models = [RefinedFSC(n_clusters=10, random_state=seed).fit(X) for seed in range(5)]
densities = [model.score_samples(X) for model in models]
for model, density in zip(models, densities, strict=True):
    print(f"mean log density {density.mean():.2f}, accuracy {scores(classes, model.labels_)['accuracy']:.3f}")
best = int(np.argmax([density.mean() for density in densities]))
labels, density = models[best].labels_, densities[best]

# %%
# One row for each cluster: its mean, the images of highest density, and those of lowest density. Look at the last ones:
# they are unusual, or of another class than most of their cluster (framed).
SHOWN = 8
figure, grid = plt.subplots(10, 2 * SHOWN + 2, figsize=(9, 5.4))
figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.94, wspace=0.06, hspace=0.06)
for row, cluster in zip(grid, np.unique(labels), strict=True):
    members = np.flatnonzero(labels == cluster)
    common = np.bincount(classes[members]).argmax()
    members = members[np.argsort(-density[members])]
    row[0].imshow(images[members].mean(axis=0), cmap="Blues")
    # The column in the middle stays empty.
    for axes, i in zip([*row[1 : SHOWN + 1], *row[-SHOWN:]], [*members[:SHOWN], *members[-SHOWN:]], strict=True):
        axes.imshow(images[i], cmap="gray_r")
        if classes[i] != common:
            axes.add_patch(plt.Rectangle((-0.4, -0.4), 7.8, 7.8, fill=False, color="#cc3311", linewidth=2))
for axes in grid.flat:
    axes.set_axis_off()
for column, title in ((0, "mean"), (1, "most typical"), (SHOWN + 2, "least typical")):
    grid[0, column].set_title(title, fontsize=10, loc="left")
plt.show()
