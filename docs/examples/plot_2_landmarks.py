"""
Choosing landmarks
==================

More landmarks make the codes better and slower. Landmarks by K-medoids spread over the points; they need fewer for the
same accuracy, and take time to select.
"""

# %%
# The paper's synthetic points: five 6-dimensional subspaces of R^16, with noise.
import matplotlib.pyplot as plt
import numpy as np

from lssc import FSC
from lssc.metrics import scores

N_CLUSTERS, TRIALS = 5, 5


def draw_points(rng, n=3600, dim=6, ambient=16, noise=0.2):
    """Points of random subspaces, and their classes."""
    classes = np.arange(n) % N_CLUSTERS
    bases = np.linalg.qr(rng.normal(size=(N_CLUSTERS, ambient, dim)))[0]
    X = np.einsum("ij,ikj->ik", rng.normal(size=(n, dim)), bases[classes])
    return X + noise * rng.normal(size=X.shape), classes


# %%
# Each number of landmarks runs on the same five sets of points.
counts = [25, 50, 100, 200, 400]
selectors = {"uniform": "uniform", "kmedoids": "K-medoids"}
accuracy = {name: np.empty((len(counts), TRIALS)) for name in selectors}
seconds = {name: np.empty((len(counts), TRIALS)) for name in selectors}
for trial in range(TRIALS):
    X, classes = draw_points(np.random.default_rng(trial))
    for name in selectors:
        for place, m in enumerate(counts):
            model = FSC(N_CLUSTERS, n_landmarks=m, landmarks=name, lam=10, random_state=trial).fit(X)
            accuracy[name][place, trial] = scores(classes, model.labels_)["accuracy"]
            seconds[name][place, trial] = sum(model.seconds_.values())

# %%
# Lines are means, bands one standard deviation. The gain of K-medoids is largest where landmarks are few.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for (name, label), colour in zip(selectors.items(), ("#0173b2", "#de8f05"), strict=True):
    mean, std = accuracy[name].mean(axis=1), accuracy[name].std(axis=1, ddof=1)
    left.plot(counts, mean, "o-", color=colour, label=label)
    left.fill_between(counts, mean - std, np.minimum(mean + std, 1), color=colour, alpha=0.15, linewidth=0)
    right.plot(counts, np.median(seconds[name], axis=1), "o-", color=colour, label=label)
left.set(xscale="log", xlabel="landmarks m", ylabel="clustering accuracy", title="Accuracy")
right.set(xscale="log", ylim=0, xlabel="landmarks m", ylabel="seconds, median", title="Time of one fit")
for axes in (left, right):
    axes.set_xticks(counts, counts)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
left.legend(title="landmarks by", frameon=False, loc="lower right")
plt.show()
