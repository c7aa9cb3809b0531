"""The elastic net of one point over a few atoms.

With G the inner products of the atoms and q those of the point with the atoms, the code c minimises

    mu |c|_1 + ridge/2 |c|^2 + c'Gc/2 - q'c.

With r = q - Gc, it is optimal if r_j - ridge c_j = mu sign(c_j) where c_j is not zero, and |r_j| <= mu elsewhere.
Coordinate descent finds which coefficients are zero, Newton's method solves for the others. Every step of either
lowers the objective. Only the first n places of the arrays are used.
"""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import FAST, helper, kernel

# Violations of the optimality conditions, relative to mu: up to this it is rounding.
ROUNDING = 1e-9
# Passes of coordinate descent between two Newton steps, and Newton steps at most.
PASSES, MAX_STEPS = 3, 30
# Added to the diagonal of Newton's equations, relative to its largest entry: dependent atoms make them singular. It
# shortens steps, and does not move the solution.
SHIFT = 1e-9

_helper = helper(fastmath=FAST)


@kernel(fastmath=FAST)
def descend(n, G, c, r, mu, ridge, tol, max_passes):
    """Coordinate descent from c, in place, until no residual moves by more than tol mu in a pass."""
    for _ in range(max_passes):
        if _pass(n, G, c, r, mu, ridge) <= tol * mu:
            break


@kernel(fastmath=FAST)
def solve(n, G, q, c, r, mu, ridge):
    """Minimise from c, in place, up to rounding. Returns whether the code is optimal."""
    active, trial, trial_r = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    for _ in range(MAX_STEPS):
        k = _list_active(n, c, active)
        step = _newton_step(G, c, r, mu, ridge, active[:k])
        _move(n, G, q, c, r, mu, ridge, active[:k], step, trial, trial_r)
        if _violation(n, c, r, mu, ridge) <= ROUNDING * mu:
            return True
        for _ in range(PASSES):
            _pass(n, G, c, r, mu, ridge)
    return False


@_helper
def _pass(n, G, c, r, mu, ridge):
    """Minimise over one coefficient after the other. Returns the largest change of a residual."""
    largest = 0.0
    for j in range(n):
        old, g = c[j], G[j, j]
        z, new = r[j] + g * old, 0.0
        # An atom of length zero has no inner products: its coefficient stays zero.
        if abs(z) > mu and g + ridge > 0.0:
            new = (z - mu if z > 0.0 else z + mu) / (g + ridge)
        if new != old:
            change, row = new - old, G[j]
            for i in range(n):
                r[i] -= change * row[i]
            c[j] = new
            largest = max(largest, abs(change) * (g + ridge))
    return largest


@_helper
def _list_active(n, c, active):
    """Put the places of nonzero coefficients into `active`. Returns their number."""
    k = 0
    for j in range(n):
        if c[j] != 0.0:
            active[k] = j
            k += 1
    return k


@_helper
def _newton_step(G, c, r, mu, ridge, active):
    """The step to the minimum over the active coefficients at their present signs."""
    k, largest = len(active), 0.0
    H, step = np.empty((k, k)), np.empty(k)
    for a in range(k):
        j = active[a]
        row = G[j]
        for b in range(k):
            H[a, b] = row[active[b]]
        largest = max(largest, H[a, a])
        step[a] = r[j] - ridge * c[j] - (mu if c[j] > 0.0 else -mu)
    for a in range(k):
        H[a, a] += ridge + SHIFT * largest
    L = np.linalg.cholesky(H)
    for a in range(k):
        row, total = L[a], step[a]
        for d in range(a):
            total -= row[d] * step[d]
        step[a] = total / row[a]
    for a in range(k - 1, -1, -1):
        row = L[a]
        step[a] /= row[a]
        for d in range(a):
            step[d] -= step[a] * row[d]
    return step


@_helper
def _move(n, G, q, c, r, mu, ridge, active, step, trial, trial_r):
    """Go the whole step, with coefficients that change sign set to zero, if that lowers the objective.

    Otherwise go until the first coefficient is zero, which always lowers it. Residuals are computed anew.
    """
    share, first = 1.0, -1
    trial[:n] = 0.0
    for a in range(len(active)):
        j = active[a]
        trial[j] = c[j] + step[a]
        if trial[j] * c[j] <= 0.0:
            trial[j] = 0.0
            if -c[j] / step[a] < share:
                share, first = -c[j] / step[a], j
    _residuals(n, G, q, trial, trial_r)
    if first >= 0 and _objective(n, q, trial, trial_r, mu, ridge) > _objective(n, q, c, r, mu, ridge):
        for a in range(len(active)):
            trial[active[a]] = c[active[a]] + share * step[a]
        trial[first] = 0.0
        _residuals(n, G, q, trial, trial_r)
    for j in range(n):
        c[j], r[j] = trial[j], trial_r[j]


@_helper
def _residuals(n, G, q, c, r):
    """r = q - Gc."""
    for i in range(n):
        r[i] = q[i]
    for j in range(n):
        f = c[j]
        if f != 0.0:
            row = G[j]
            for i in range(n):
                r[i] -= f * row[i]


@_helper
def _objective(n, q, c, r, mu, ridge):
    total = 0.0
    for j in range(n):
        total += mu * abs(c[j]) + 0.5 * ridge * c[j] * c[j] - 0.5 * c[j] * (q[j] + r[j])
    return total


@_helper
def _violation(n, c, r, mu, ridge):
    """The largest violation of the optimality conditions."""
    worst = 0.0
    for j in range(n):
        off = abs(r[j]) - mu if c[j] == 0.0 else abs(r[j] - ridge * c[j] - (mu if c[j] > 0.0 else -mu))
        worst = max(worst, off)
    return worst
