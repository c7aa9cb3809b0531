"""
First steps
===========

Points near three subspaces, clustered by :class:`lssc.FSC`. Each point is coded by a few landmarks, most of them of its
own subspace; the codes show clusters that the points themselves do not.
"""

# %%
# 200 points near each of three 3-dimensional subspaces of R^20, with noise.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from lssc import FSC
from lssc.metrics import scores

rng = np.random.default_rng(1)
classes = np.repeat([0, 1, 2], 200)
X = np.concatenate([rng.normal(size=(200, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
X += 0.5 * rng.normal(size=X.shape)

# %%
# One call clusters them; it chooses the number of landmarks and the weight ``lam`` itself. ``labels_`` has the cluster
# of every point, ``codes_`` its coefficients, ``embedding_`` the coordinates in which K-means finds the clusters.
model = FSC(n_clusters=3, random_state=0).fit(X)
print(f"{model.n_landmarks_} landmarks, lam {model.lam_:.2f}")
print("cluster sizes", np.bincount(model.labels_))
print(f"accuracy {scores(classes, model.labels_)['accuracy']:.3f}")

# %%
# Left: the subspaces meet at the origin, and principal components mix them. Middle: each row is the code of a point,
# with points and landmarks sorted by cluster. Blocks are subspaces; colour outside of them is what codes get wrong.
# Right: points with similar codes are near each other in the spectral coordinates.
colours = np.array(["#0173b2", "#de8f05", "#029e73"])[model.labels_]
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
left.scatter(*PCA(2).fit_transform(X).T, c=colours, s=8)
left.set(title="Points", xlabel="1st principal component", ylabel="2nd principal component")

points = np.argsort(model.labels_, kind="stable")
landmarks = np.argsort(model.labels_[model.landmark_indices_], kind="stable")
sizes = np.abs(model.codes_.toarray())[points][:, landmarks]
middle.imshow(sizes, aspect="auto", cmap="Greys", vmax=0.4, interpolation="nearest")
middle.set(title="Codes", xlabel="landmarks, by cluster", ylabel="points, by cluster")

right.scatter(*model.embedding_[:, 1:].T, c=colours, s=8)
right.set(title="Spectral coordinates", xlabel="2nd coordinate", ylabel="3rd coordinate", xticks=[], yticks=[])
plt.show()
