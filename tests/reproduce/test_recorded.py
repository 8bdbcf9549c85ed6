"""Records of earlier runs: what was written is read back, and what is not there is said with its command."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from lessons_lib.core import DamagedFile, DataMissing
from lessons_lib.reproduce import entries, recorded, run


def test_a_record_is_what_the_run_found(tmp_path):
    entry = dataclasses.replace(entries()["blei2003_table1"], measure=lambda settings, seed: {"pLSI": {20: 3.5, 100: math.inf},
                                                                                             "mixture of unigrams": {2: 1.0, 100: 2.0}})
    outcome = run(dataclasses.replace(entry, draw=_drawn), scale="smoke", folder=tmp_path)
    found = recorded("blei2003_table1", folder=tmp_path)
    assert found.measured == outcome.measured and found.claims == outcome.verdicts and found.scale == "smoke"
    assert found.printed == {name: dict(points) for name, points in entry.printed.items()}


def _drawn(entry, measured):
    from lessons_lib.plots import score_curves

    return score_curves({"a": ([1], [1])}, title="x", xlabel="k", ylabel="s")


def test_what_was_never_run_is_said_with_its_command(tmp_path):
    with pytest.raises(DataMissing, match="run lessons reproduce blei2003_table1"):
        recorded("blei2003_table1", folder=tmp_path)
    with pytest.raises(ValueError, match="blei2003_table1"):
        recorded("blei2003_table", folder=tmp_path)


@pytest.mark.parametrize("text", ["", "{}", json.dumps({"printed": 3})])
def test_a_damaged_record_is_named(tmp_path, text):
    (tmp_path / "blei2003_table1.json").write_text(text)
    with pytest.raises(DamagedFile, match=r"blei2003_table1\.json is no record"):
        recorded("blei2003_table1", folder=tmp_path)
