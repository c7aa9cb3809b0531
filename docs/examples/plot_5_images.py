"""
Your own images
===============

Images are points, too: one row of pixels each. Here they are the 1,797 handwritten digits that scikit-learn brings
along; replace them by an array of your own images, n x height x width.
"""

# %%
# Rows of pixels, without their mean: images of one digit are alike up to their brightness and some strokes.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from lssc import RefinedFSC
from lssc.metrics import scores

digits = load_digits()
images, classes = digits.images, digits.target
X = images.reshape(len(images), -1)
model = RefinedFSC(n_clusters=10, n_landmarks=500, random_state=0).fit(X)
print(f"accuracy {scores(classes, model.labels_)['accuracy']:.3f}")
print("cluster sizes", np.bincount(model.labels_))

# %%
# One row for each cluster: its mean, then the images of highest density, then those of lowest density under the
# model. The last ones are those to look at: unusual digits, or digits of another class, framed in red.
SHOWN = 8
density = model.score_samples(X)
figure, grid = plt.subplots(10, 2 * SHOWN + 1, figsize=(9, 5.6), gridspec_kw={"wspace": 0.08, "hspace": 0.08})
for cluster, row in enumerate(grid):
    members = np.flatnonzero(model.labels_ == cluster)
    common = np.bincount(classes[members], minlength=10).argmax()
    members = members[np.argsort(-density[members])]
    shown = [*members[:SHOWN], *members[-SHOWN:]]
    row[0].imshow(images[members].mean(axis=0), cmap="Blues")
    for axes, i in zip(row[1:], shown, strict=True):
        axes.imshow(images[i], cmap="gray_r")
        if classes[i] != common:
            axes.add_patch(plt.Rectangle((-0.4, -0.4), 7.8, 7.8, fill=False, color="#cc3311", linewidth=2))
for axes in grid.flat:
    axes.set_axis_off()
grid[0, 0].set_title("mean", fontsize=10)
grid[0, 1].set_title("most typical", fontsize=10, loc="left")
grid[0, SHOWN + 1].set_title("least typical", fontsize=10, loc="left")
plt.show()
