"""The benchmark page follows from the measured rows, and the compared solvers solve the same problem."""

import json
import os
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import automatic
import overhead
from bounds import BOUNDS, STAGES, Results
from figures import plot_coders, plot_methods
from lssc.kernels.farthest_first import find_exemplars
from lssc.parts.coders.omp import code_omp
from lssc.pipeline.store.artifacts import Record, writing
from measure import COLUMNS, in_turn, row
from page import page, read_kept, write_page
from peers import farthest_first_plainly, lasso_peers, lasso_quality, omp_one_by_one

REPO = Path(__file__).parents[3]
MADE = {
    part: {"seconds": 30.0, "with": "a machine"} for part in ("lasso", "stages", "methods", "estimators", "overhead")
}


def made_up_rows(spams=5.0):
    """`lasso` takes 1 s at least, SPAMS `spams` seconds; FSC-uniform takes n^1.02 microseconds."""
    rows = []
    for peer, seconds in {"lasso": [1.0, 1.5, 1.2], "SPAMS": [spams], "scikit-learn, lasso_cd": [50]}.items():
        rows.append(("lasso", row("m300", peer, "cpu_seconds", seconds, n=15_000, size="D=16, n=15,000, m=300")))
        rows.append(("lasso", row("m300", peer, "objective_excess", 2e-10, n=15_000, size="D=16, n=15,000, m=300")))
    rows.append(("lasso", row("mnist", "lasso", "cpu_seconds", np.nan, n=0, size="MNIST", note="skipped: none here")))
    for peer, factor in {"ours": 1, "others": 6}.items():
        for stage, seconds in zip((*STAGES, "cpu_seconds"), (0, 7, 2, 1, 10), strict=True):
            rows.append(("stages", row("stages", peer, stage, factor * seconds, n=15_000, size="n=15,000")))
    for n in (3_000, 15_000, 1_000_000):
        for quantity in ("coding", "cpu_seconds"):
            rows.append(("methods", row("whole", "FSC-uniform", quantity, n**1.02 / 1e6, n=n)))
        rows.append(("methods", row("whole", "FSC-uniform", "accuracy", [0.9, 0.95, 0.94], n=n)))
        rows.append(("methods", row("whole", "FSC-uniform", "peak_mb", 512, n=n)))
    rows.append(("methods", row("whole", "SSC-OMP", "cpu_seconds", np.nan, n=3_000, note="stopped after 120 s")))
    for n, factor in {15_000: 1.01, 60_000: 1.04}.items():
        for peer, seconds in {"sum of its parts": [2.0, 3.0], "FSC.fit": [2.0 * factor, 3.0]}.items():
            rows.append(("estimators", row(f"overhead{n}", peer, "cpu_seconds", seconds, n=n, size=f"n={n:,}")))
    for peer, note in {"FSC": "", "UMAP + HDBSCAN": "7 clusters"}.items():
        for quantity, value in {"accuracy": [0.9, 0.8], "cpu_seconds": 4, "seconds": 5, "peak_mb": 200}.items():
            rows.append(("estimators", row("3600", peer, quantity, value, n=3600, size="n=3,600", note=note)))
    rows.append(("overhead", row("run", "2 cores", "seconds", 70, n=0, size="landmarks")))
    rows.append(("overhead", row("run", "2 cores", "core_seconds_over_work", 1.4, n=0, size="landmarks")))
    return pd.DataFrame([{"part": part, **values} for part, values in rows], columns=list(COLUMNS))


def test_page_reports_measured_ratios():
    text = " ".join(page(Results(made_up_rows()), MADE).split())
    assert "`lasso` is 5.0 times as fast as SPAMS with 300 landmarks; all solvers' objectives agree to 2e-10." in text
    assert "6.0 times as fast as the same method" in text
    assert "1,000,000 points take 1.3 s and 0.5 GB, at accuracy 0.940" in text
    assert "| `lasso` faster than SPAMS, m=300 | ≥ 4 times | 5 times | |" in text
    assert "| FSC-uniform after selection, exponent of n from 15,000 on | ≤ 1.03 | 1.02 | |" in text
    assert "| lasso | 1 | 1.2 | 50% | 3 | 1 | 2e-10 | |" in text
    assert "skipped: none here" in text
    assert "stopped after 120 s" in text
    assert "| embedding | 2 | 20% | 12 | 20% | 6.0 |" in text
    assert "| `FSC.fit` over the sum of its parts, n = 15,000 and more | ≤ 1.05 times | 1.04 times | |" in text
    assert "| FSC.fit | 2.02 | 2.51 | 49% | 2 | 1.01 | |" in text
    assert "| UMAP + HDBSCAN | 0.85 | 4 | 5 | 200 | 2 | 7 clusters |" in text


def test_kept_page_matches_kept_rows():
    docs = REPO / "docs"
    assert (docs / "benchmarks.md").read_text() == page(*read_kept(docs / "results/benchmarks"))


def test_bound_is_held_broken_or_unknown():
    results = Results(made_up_rows(spams=3.0))
    verdicts = {bound.what: bound.verdict(results) for bound in BOUNDS}
    assert verdicts["`lasso` faster than SPAMS, m=300"] is False
    assert verdicts["`lasso` faster than SPAMS, MNIST features"] is None
    assert verdicts["Embedding and K-means, share of FSC-uniform"] is True
    assert verdicts["Workflow: wall seconds x cores over the stages' CPU seconds"] is False


def test_page_is_written_from_one_table_per_part(tmp_path):
    kept = tmp_path / "results" / "benchmarks"
    kept.mkdir(parents=True)
    for part, rows in made_up_rows().groupby("part"):
        rows.to_csv(kept / f"{part}.csv", index=False)
    (kept / "made.json").write_text("{}")
    # A table that belongs to no part.
    (kept / "automatic_selection.csv").write_text("method,n\nFSC,many\n")
    broken = write_page(tmp_path)
    assert broken == ["Workflow: wall seconds x cores over the stages' CPU seconds"]
    text = (tmp_path / "benchmarks.md").read_text()
    assert "| | n = 3,000 | n = 15,000 | n = 1,000,000 |" in text
    for name in ("benchmarks_methods.png", "benchmarks_coders.png"):
        assert f"figures/{name}" in text
        assert (tmp_path / "figures" / name).stat().st_size > 10_000


def test_figures_draw_every_peer():
    rows = made_up_rows()
    lasso, stages, methods = (rows[rows["part"] == part] for part in ("lasso", "stages", "methods"))
    assert len(plot_methods(methods).axes[0].lines) == methods["peer"].nunique()
    assert len(plot_coders(lasso, stages, STAGES).axes[0].lines) == lasso["peer"].nunique()


def test_lasso_solvers_reach_the_same_objective(X):
    X, landmarks, lam = X[:20], np.arange(0, 20, 2), 10.0
    peers = lasso_peers(X, landmarks, lam, np.arange(20))
    found = {name: lasso_quality(X, X[landmarks], peer.solve(), lam) for name, peer in peers.items()}
    for name, (objective, violation) in found.items():
        np.testing.assert_allclose(objective, found["lasso"][0], rtol=1e-6, err_msg=name)
        assert violation < 1e-3, name


@pytest.mark.filterwarnings("ignore")
def test_omp_of_scikit_learn_excludes_the_point_itself(X):
    before = X.copy()
    codes = omp_one_by_one(X, np.arange(len(X)), 2)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose(codes, code_omp(X, np.arange(len(X)), k=2).matrix.toarray(), atol=1e-9)


def test_plain_search_selects_the_same_exemplars(X):
    np.testing.assert_array_equal(farthest_first_plainly(X, 8, 10.0, 3), find_exemplars(X, 8, lam=10.0, first=3)[0])


def test_functions_take_turns_after_an_untimed_round():
    order, ticks = [], iter(range(100))
    functions = {name: lambda name=name: order.append(name) for name in "ab"}
    assert in_turn(functions, 2, clock=lambda: next(ticks)) == {"a": [1, 1], "b": [1, 1]}
    assert order == list("ababab")


def test_overhead_compares_stage_seconds_with_the_log(tmp_path, monkeypatch, capsys):
    log = tmp_path / ".snakemake/log/2026-01-02T030405.000000.snakemake.log"
    log.parent.mkdir(parents=True)
    log.write_text("Provided cores: 4\n")
    end = datetime(2026, 1, 2, 3, 5, 5).timestamp()
    os.utime(log, (end, end))
    (tmp_path / "results/experiments/points").mkdir(parents=True)
    for name, seconds in {"data": 20.0, "codes": 100.0}.items():
        with writing(tmp_path / f"results/synthetic/n9/t00-01/{name}.h5") as writer:
            for trial in (0, 1):
                writer.add(trial, Record({"x": np.zeros(1)}, {"cpu_seconds": seconds / 2}))
    monkeypatch.setattr("sys.argv", ["overhead.py", str(tmp_path)])
    overhead.main()
    found = {(r["peer"], r["quantity"]): r["least"] for r in json.loads(capsys.readouterr().out)}
    assert found["4 cores", "seconds"] == 60
    assert found["4 cores", "stage_cpu_seconds"] == 120
    assert found["4 cores", "core_seconds_over_work"] == 2
    assert found["coding", "cpu_seconds"] == 100
    assert found["K-means", "cpu_seconds"] == 0


def test_rules_are_compared_with_tuned_weights():
    values = {"rule": [0.9, 0.92, 0.94], "tuned": [0.95, 0.95, 0.96], "lam": 3.3, "n_landmarks": 500, "seconds": 2.0}
    values |= {"twice": 0.97, "twice_seconds": 5.0, "clusters": [4, 5, 5]}
    rows = [row("synthetic", "FSC", quantity, value, n=3_600) for quantity, value in values.items()]
    rows += [row("synthetic", "FSC", "best multiple", 2, n=3_600, note="end")]
    rows += [row("synthetic", "FSC", "right", 2, n=3_600, note="2 of 3")]
    rows += [row("digits", "FSC", "rule", np.nan, n=0, note="skipped: no images")]
    frame = pd.DataFrame([{"part": "automatic", **one} for one in rows], columns=list(COLUMNS))
    text = page(Results(frame), MADE)
    assert "the rule for λ loses at most 0.030 (synthetic)" in text
    assert "K is right in 2 of 3 trials." in " ".join(text.split())
    assert "| synthetic | 3,600 | 500 | 3.3 | 2 end | .950 | .920 | 0.030 | .970 | x 2.5 | 4, 5 | 2 of 3 |" in text
    assert "| digits | skipped: no images |" in text


class Peaked:
    """In place of `fitted`: the rule's weight is 10, and accuracy falls with the distance from the best weight."""

    def __init__(self, best, seconds=0.0):
        self.best, self.seconds = best, seconds

    def __call__(self, method, dataset, trial, number, lam=10.0):
        model = type("Model", (), {"lam_": lam})
        return model, 1 - abs(np.log(lam / self.best)) / 10, self.seconds


@pytest.mark.parametrize(
    ("best", "seconds", "multiples"),
    [
        (10.0, 0.0, [0.3, 1.0, 3.0]),
        (90.0, 0.0, [0.3, 1.0, 3.0, 9.0, 27.0]),
        (9000.0, 0.0, [0.3, 1.0, 3.0, 9.0, 27.0]),
        (1.0, 0.0, [0.033, 0.1, 0.3, 1.0, 3.0]),
        (90.0, 60.0, [0.3, 1.0, 3.0]),
    ],
    ids=["best inside", "best beyond the end", "best far away", "best below", "slow"],
)
def test_sweep_goes_on_where_the_best_is_at_an_end(best, seconds, multiples, monkeypatch):
    monkeypatch.setattr(automatic, "fitted", Peaked(best, seconds))
    sweep = automatic.swept("ESC", automatic.Dataset(20, 2, 5, 2), range(1))
    assert sorted(sweep) == multiples


def test_best_of_equal_multiples_is_closest_to_the_rule():
    assert automatic.best_of({0.5: [1.0], 1.0: [1.0], 2.0: [1.0], 4.0: [0.9]}) == 1.0


def test_methods_that_do_not_run_on_all_images_say_so(monkeypatch):
    for folder in ("BENCH_IMAGES", "BENCH_ALL_IMAGES"):
        monkeypatch.delenv(folder, raising=False)
    dataset = automatic.DATASETS["MNIST, all images"]
    assert dataset.missing("SSC") == "not run"
    assert "--all-images" in dataset.missing("FSC")
    monkeypatch.setenv("BENCH_ALL_IMAGES", "results")
    assert not dataset.missing("FSC")


def test_every_plain_dataset_of_the_measured_images_is_measured():
    datasets = yaml.safe_load((REPO / "config/config.yaml").read_text())["datasets"]
    config = yaml.safe_load((REPO / "benchmarks/images.yaml").read_text())
    generators = {name: dataset["generator"] for name, dataset in datasets.items()}
    plain = {
        name
        for name, generator in generators.items()
        if generator.get("collection") in config["images"] and not generator.get("whiten")
    }
    measured = {dataset.folder for dataset in automatic.DATASETS.values() if dataset.folder}
    assert measured == plain == {experiment["dataset"] for experiment in config["experiments"].values()}
