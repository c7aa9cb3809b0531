"""Agreement between trials is taken over the points that they share."""

import numpy as np
import pytest

from lssc.report.agreement import Labellings, mean_agreements, unlabelled_summary


def labelling(labels, origin):
    return np.array(labels), np.array(origin)


def test_equal_clusters_agree_whatever_their_numbers():
    one, two = labelling([0, 0, 1, 1], [3, 5, 7, 9]), labelling([1, 1, 0, 0, 0], [3, 5, 7, 9, 11])
    assert mean_agreements([one, two]) == [1.0, 1.0]


def test_each_trial_has_its_mean_with_the_others():
    same, other = labelling([0, 0, 1, 1], [0, 1, 2, 3]), labelling([0, 1, 0, 1], [0, 1, 2, 3])
    assert mean_agreements([same, same, other]) == pytest.approx([0.25, 0.25, -0.5])


def test_trials_without_shared_points_have_no_agreement():
    assert mean_agreements([labelling([0, 1], [0, 1]), labelling([0, 1], [2, 3])]) == [None, None]


def test_methods_and_sizes_are_compared_among_themselves():
    rows = [{"dataset": "d", "method": m, "n": 4, "m": 2, "trial": t} for m in "ab" for t in range(2)]
    labellings = Labellings()
    for row in rows:
        labels = [0, 0, 1, 1] if row["method"] == "a" or row["trial"] else [0, 1, 0, 1]
        labellings.add(row, *labelling(labels, range(4)))
    labellings.fill_in_agreement()
    assert [row["agreement"] for row in rows] == [1.0, 1.0, -0.5, -0.5]


def test_report_shows_means_over_trials():
    common = {"label": "FSC", "dataset": "d", "n": "1000", "m": "20", "sizes": "600 400", "share_uncoded": "0.0"}
    rows = [{**common, "eigengap": "0.1", "agreement": "0.5"}, {**common, "eigengap": "", "agreement": "0.7"}]
    [line] = unlabelled_summary([*rows, {**common, "sizes": ""}])
    assert line["sizes"] == "600, 400"
    assert (line["eigengap"], line["agreement"], line["n"], line["trials"]) == ("0.100", "0.600", "1,000", "2")
