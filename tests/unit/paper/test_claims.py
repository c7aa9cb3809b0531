"""Verdicts of the paper's claims from score tables."""

import math

import numpy as np
import pytest
from scipy import stats

from lssc.paper.claims import CLAIMS
from lssc.paper.findings import above, at_least, at_most, between, format_sizes
from lssc.paper.intervals import Interval, mean_interval, ratio_interval
from lssc.paper.verdicts import judge_all
from lssc.report.units import format_number

FULL = {"ssc_omp", "ssc_admm", "ssc_admm_low_rank", "ssc_admm_modified", "ssc_admm_modified_plain"}
# (accuracy, CPU seconds) of each method, such that every claim of the paper holds.
PAPER = {
    "fsc_uniform": lambda n, m: (0.97 - 8 / m, 1e-4 * n * m / 1000 / 10),
    "fsc_nonuniform": lambda n, m: (0.975 - 4 / m, 1e-3 * (n / 1000) ** 0.9 + 0.3 + m / 1e4),
    "esc": lambda n, m: (0.7, 0.3 * (n / 3000) ** 1.2),
    "esc_raw": lambda n, m: (0.69, 0.3),
    "esc_unit": lambda n, m: (0.7, 0.3),
    "ssc_omp": lambda n, m: (0.85 if n != 8000 else 0.95, 1.0 * n / 3000),
    "ssc_admm": lambda n, m: (0.97, 200.0),
    "ssc_admm_low_rank": lambda n, m: (0.97, 20.0),
    "ssc_admm_modified": lambda n, m: (0.971, 100.0),
    "ssc_admm_modified_plain": lambda n, m: (0.971, 100.0),
    "fsc_uniform_self": lambda n, m: (0.97 - 8 / m - m / 1e4, 0.01),
    "fsc_uniform_explicit": lambda n, m: (0.97 - 8 / m, 5.0),
}
GRIDS = {
    "landmarks": ([3600], [100, 200, 500], [*PAPER][:9]),
    "points": ([3000, 15000], [300], ["fsc_uniform", "fsc_nonuniform", "esc", "ssc_omp", "ssc_admm_modified"]),
    "admm_steps": ([3600], [300], ["ssc_admm", "ssc_admm_modified_plain"]),
    "self_coding": ([3600], [100, 500, 2000], ["fsc_uniform", "fsc_uniform_self"]),
    "explicit": ([3600], [100], ["fsc_uniform", "fsc_uniform_explicit"]),
    "mnist": ([8000], [50, 500], ["fsc_uniform", "fsc_nonuniform", "esc", "esc_raw", "ssc_omp"]),
    "mnist_lambda3": ([8000], [50, 500], ["fsc_uniform", "fsc_nonuniform", "esc", "esc_raw"]),
}  # fmt: skip


def tables(methods_by_size=PAPER, trials=6):
    """Score tables as read from CSV. A trial is harder or easier for all methods alike."""
    rng = np.random.default_rng(0)
    shift, by_experiment = 0.005 * rng.standard_normal(trials), {}
    for experiment, (ns, ms, methods) in GRIDS.items():
        rows = by_experiment.setdefault(experiment, [])
        for method in methods:
            for n in ns:
                for m in [n] if method in FULL else ms:
                    accuracy, seconds = methods_by_size[method](n, m)
                    for trial in range(trials):
                        row = {"method": method, "label": method, "n": n, "m": m, "trial": trial}
                        row |= {"full_data": method in FULL, "accuracy": accuracy + shift[trial]}
                        row |= {"cpu_seconds": seconds, "select_cpu_seconds": seconds / 1000}
                        row |= {"code_cpu_seconds": seconds, "embed_cpu_seconds": seconds}
                        rows.append({key: str(value) for key, value in row.items()})
    return by_experiment


def agreement(sine=1e-12, labels=1.0):
    row = {"n": "3600", "m": "100", "sine": str(sine), "values": "1e-15", "labels": str(labels)}
    return {"explicit": [row | {"trial": str(trial)} for trial in range(3)]}


def verdicts(scores, agreed=None):
    """Claim id -> the claim with its verdict."""
    return {claim["id"]: claim for claim in judge_all(CLAIMS, scores, agreement() if agreed is None else agreed)}


def test_every_claim_holds_in_tables_that_agree_with_the_paper():
    judged = verdicts(tables())
    assert {id: claim["verdict"] for id, claim in judged.items() if claim["verdict"] != "holds"} == {}
    assert list(judged) == [claim.id for claim in CLAIMS]
    assert all(claim["findings"] and claim["summary"] for claim in judged.values())


def test_no_claim_is_run_without_tables():
    judged = verdicts({}, {})
    assert {claim["verdict"] for claim in judged.values()} == {"not run"}
    assert all(claim["summary"].startswith("Needs ") for claim in judged.values())


@pytest.mark.parametrize("missing", GRIDS)
def test_missing_experiment_leaves_its_claims_not_run(missing):
    scores, agreed = tables(), agreement()
    scores.pop(missing)
    if missing == "explicit":
        agreed.pop(missing)
    not_run = {id for id, claim in verdicts(scores, agreed).items() if claim["verdict"] == "not run"}
    assert not_run
    assert not_run < {claim.id for claim in CLAIMS}


def test_missing_method_or_m_leaves_a_claim_not_run():
    scores = tables()
    scores["landmarks"] = [row for row in scores["landmarks"] if row["method"] != "esc" and row["m"] != "200"]
    judged = verdicts(scores)
    assert judged["uniform_beats_omp_and_esc"]["verdict"] == "not run"
    assert judged["uniform_beats_omp_and_esc"]["summary"] == "Needs esc in experiment landmarks."
    assert judged["ninety_percent"]["summary"] == "Needs fsc_uniform at m = 200 in experiment landmarks."
    assert judged["medoids_help"]["verdict"] == "holds"


def test_single_trial_is_not_enough():
    judged = verdicts(tables(trials=1))
    assert {id for id, claim in judged.items() if claim["verdict"] != "not run"} == {"implicit_is_explicit"}
    assert "need at least 2" in judged["ninety_percent"]["summary"]


def changed(**methods):
    return tables(PAPER | methods)


WORSE = [
    ("admm_equal", {"ssc_admm_modified": lambda n, m: (0.94, 100.0)}),
    ("modified_twice_as_fast", {"ssc_admm_modified_plain": lambda n, m: (0.971, 20.0)}),
    ("omp_faster", {"ssc_omp": lambda n, m: (0.85, 150.0)}),
    ("ninety_percent", {"fsc_uniform": lambda n, m: (0.89, 0.01)}),
    ("nonuniform_as_fast_as_esc", {"esc": lambda n, m: (0.8, 3.0)}),
    ("linear_time", {"fsc_uniform": lambda n, m: (0.9, (n / 1e4) ** 2)}),
    ("seconds_at_15000", {"fsc_uniform": lambda n, m: (0.9, 1.0)}),
    ("grows_more_slowly", {"esc": lambda n, m: (0.7, 0.3 * (n / 1e9 + 1))}),
    ("linear_time", {"fsc_nonuniform": lambda n, m: (0.9, (n / 1e4) ** 1.5)}),
    ("beats_esc_on_mnist", {"esc": lambda n, m: (0.98, 0.3), "esc_raw": lambda n, m: (0.98, 0.3)}),
    ("gap_closes_on_mnist", {"fsc_nonuniform": lambda n, m: (0.99 - 8 / m, 0.3)}),
    ("self_coding_hurts", {"fsc_uniform_self": lambda n, m: (0.98 - 8 / m, 0.01)}),
    ("medoids_help", {"fsc_nonuniform": lambda n, m: (0.9 - 8 / m, 0.3)}),
]


@pytest.mark.parametrize(("claim", "methods"), WORSE, ids=[case[0] for case in WORSE])
def test_claim_fails_where_the_numbers_contradict_it(claim, methods):
    judged = verdicts(changed(**methods))[claim]
    assert judged["verdict"] in ("does not hold", "holds in part")
    assert "; not " in judged["summary"]


def test_summary_says_where_a_claim_fails():
    judged = verdicts(changed(esc=lambda n, m: (0.9, 0.3)))["uniform_beats_omp_and_esc"]
    assert judged["verdict"] == "holds in part"
    assert "; not above 0 at m = 100." in judged["summary"]


def noisy(scores, method, size):
    """The same tables with the accuracies of a method scattered."""
    rng = np.random.default_rng(1)
    for row in (row for rows in scores.values() for row in rows if row["method"] == method):
        row["accuracy"] = str(float(row["accuracy"]) + size * rng.standard_normal())
    return scores


def test_noisy_trials_leave_a_claim_undecided():
    judged = verdicts(noisy(tables(), "fsc_nonuniform", 0.5))
    assert judged["medoids_help_most_at_small_m"]["verdict"] == "undecided"
    assert judged["medoids_help_most_at_small_m"]["findings"][0]["holds"] is None
    assert judged["medoids_help_most_at_small_m"]["summary"].endswith("; open whether above 0.")
    assert judged["omp_less_accurate"]["verdict"] == "holds"


def interval(low, high):
    return Interval((low + high) / 2, low, high, 3)


@pytest.mark.parametrize(
    ("target", "met", "missed", "half"),
    [
        (above(0), (0.1, 0.2), (-0.2, 0.0), (0.0, 0.2)),
        (at_least(0.9), (0.9, 1.0), (0.7, 0.89), (0.89, 0.91)),
        (at_most(1.1), (0.9, 1.1), (1.11, 1.2), (1.0, 1.2)),
        (between(0.5, 2), (0.5, 2), (2.1, 3), (1, 3)),
        (between(0.5, 2), (1, 1), (0.1, 0.4), (0.1, 3)),
    ],
)
def test_interval_meets_a_target_misses_it_or_leaves_it_open(target, met, missed, half):
    assert target.met_by(interval(*met)) is True
    assert target.met_by(interval(*missed)) is False
    assert target.met_by(interval(*half)) is None


def test_equal_values_have_an_interval_of_no_width():
    assert above(0).met_by(mean_interval([0.0, 0.0])) is False
    assert at_least(0).met_by(mean_interval([0.0, 0.0])) is True


@pytest.mark.parametrize(("sine", "labels"), [(1e-3, 1.0), (1e-12, 0.999), (1e-3, 0.999)])
def test_different_embeddings_fail_the_claim_of_equality(sine, labels):
    assert verdicts(tables(), agreement(sine, labels))["implicit_is_explicit"]["verdict"] != "holds"


def test_comparisons_are_paired():
    """Variation that all methods share is not part of the interval of a difference."""
    scores = tables()
    judged = next(f for f in verdicts(scores)["medoids_help"]["findings"] if f["where"] == "m = 100")
    assert judged["high"] - judged["low"] < 1e-9
    assert judged["estimate"] == pytest.approx(0.045)
    alone = verdicts(scores)["ninety_percent"]["findings"][0]
    assert alone["high"] - alone["low"] > 0.004


def test_only_trials_that_both_methods_ran_are_compared():
    scores = tables()
    scores["landmarks"] = [r for r in scores["landmarks"] if r["method"] != "ssc_admm_low_rank" or r["trial"] in "13"]
    judged = verdicts(scores)["admm_equal"]["findings"][0]
    assert judged["trials"] == 2
    assert judged["estimate"] == pytest.approx(-0.001)


def test_summary_separates_findings_with_different_targets():
    judged = verdicts(changed(ssc_admm_modified_plain=lambda n, m: (0.971, 10.0)))["modified_twice_as_fast"]
    assert judged["verdict"] == "holds in part"
    assert [f["holds"] for f in judged["findings"]] == [True, False]
    assert judged["summary"].count("not ") == 1
    assert judged["summary"].endswith("; not 1.5 to 3.")


@pytest.mark.parametrize("key", ["m", "n"])
def test_growth_needs_several_sizes(key):
    scores = tables()
    scores["landmarks"] = [row for row in scores["landmarks"] if row["m"] in ("200", "3600")]
    scores["points"] = [row for row in scores["points"] if row["n"] == "3000"]
    judged = verdicts(scores)
    for claim in ("medoids_help_most_at_small_m", "trade_off") if key == "m" else ("linear_time", "grows_more_slowly"):
        assert judged[claim]["verdict"] == "not run"
        assert f"several {key}" in judged[claim]["summary"]


def test_refuses_times_of_zero_and_mixed_sizes():
    scores = tables()
    for row in scores["points"]:
        row["cpu_seconds"] = "0.0"
    scores["landmarks"] += [row | {"n": "1000"} for row in scores["landmarks"]]
    judged = verdicts(scores)
    assert "times above zero" in judged["linear_time"]["summary"]
    assert "one n and one m at a time" in judged["ninety_percent"]["summary"]


def test_reading_is_marked():
    assert [claim["id"] for claim in judge_all(CLAIMS, {}, {}) if claim["reading"]] == [
        "beats_esc_on_mnist_at_lambda_3"
    ]


def test_mean_interval_is_students(rng):
    values = rng.normal(0.9, 0.05, 20)
    judged = mean_interval(values)
    low, high = stats.t.interval(0.95, 19, values.mean(), stats.sem(values))
    assert (judged.low, judged.high) == pytest.approx((low, high))
    assert judged.trials == 20


def test_mean_interval_covers_the_mean_at_its_level(rng):
    hits = [
        abs(i.estimate - 1) <= i.high - i.estimate for i in (mean_interval(rng.normal(1, 2, 8)) for _ in range(2000))
    ]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.02)


def test_inverse_ratios_have_inverse_intervals(rng):
    ratios = rng.lognormal(1, 0.3, 9)
    one, other = ratio_interval(ratios), ratio_interval(1 / ratios)
    assert (one.low, one.estimate, one.high) == pytest.approx((1 / other.high, 1 / other.estimate, 1 / other.low))
    assert one.estimate == pytest.approx(math.exp(np.log(ratios).mean()))


def test_numbers_are_formatted_by_unit():
    assert format_number(0.0349, "difference of accuracy") == "+0.035"
    assert format_number(0.9241, "accuracy") == "0.924"
    assert format_number(5635.2, "ratio of CPU seconds") == "5,635"
    assert format_number(1.0123, "exponent of n") == "1.01"
    assert format_number(3.2e-15, "sine") == "3.2e−15"
    assert format_sizes({"n": 15000}) == "n = 15,000"
