"""
A million points
================

Time and memory of :class:`lssc.FSC` grow linearly with the number of points: no matrix of all pairs is formed. On one
core, a million points take seconds.
"""

# %%
# Five 4-dimensional subspaces of R^16. ``keep_codes=False`` drops the largest result.
import time

import matplotlib.pyplot as plt
import numpy as np

from lssc import FSC
from lssc.metrics import scores

rng = np.random.default_rng(0)
n = 1_000_000
classes = rng.integers(5, size=n)
bases = np.linalg.qr(rng.normal(size=(5, 16, 4)))[0]
X = np.empty((n, 16), dtype=np.float32)
for k in range(5):
    members = classes == k
    X[members] = rng.normal(size=(members.sum(), 4)) @ bases[k].T
X += 0.05 * rng.standard_normal(X.shape, dtype=np.float32)

# %%
# The processor time of a fit, by the number of points.
counts = [3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
seconds = []
for count in counts:
    model = FSC(n_clusters=5, n_landmarks=100, lam=10, n_init=3, keep_codes=False, random_state=0)
    start = time.process_time()
    model.fit(X[:count])
    seconds.append(time.process_time() - start)
    print(f"n = {count:9,}: {seconds[-1]:5.2f} s, accuracy {scores(classes[:count], model.labels_)['accuracy']:.3f}")

# %%
# Left: the time against n, beside a line of slope 1. Right: how the steps share the time of the million.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.loglog(counts, seconds, "o-", color="#0173b2", label="FSC, m = 100")
left.loglog(counts, seconds[-1] * np.array(counts) / n, ":", color="0.4", label="proportional to n")
left.set(title="Time of one fit", xlabel="points n", ylabel="CPU seconds")
left.grid(alpha=0.3)
left.legend(frameon=False)
steps = {"selector": "select landmarks", "coder": "code points", "embedder": "embed codes", "clusterer": "K-means"}
shares = 100 * np.array([model.seconds_[step] for step in steps]) / sum(model.seconds_.values())
bars = right.barh(list(steps.values()), shares, color="#0173b2")
right.bar_label(bars, fmt="%.0f %%", padding=4)
right.invert_yaxis()
right.margins(x=0.15)
right.set(title="A million points, step by step", xlabel="share of the time, %")
plt.show()
