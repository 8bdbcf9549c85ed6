"""Measuring a paper's figure again: what is written, what a claim that fails does, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from lessons_lib.plots import score_curves
from lessons_lib.reproduce import Claim, Entry, run

SCALES = {"smoke": {"n": 2}, "laptop": {"n": 3}, "paper": {"n": 4}}


def squares(settings, seed):
    return {"squares": {x: float(x * x + seed) for x in range(1, settings["n"] + 1)}, "endless": {1: math.inf}}


def draw(entry, measured):
    points = measured["squares"]
    return score_curves({"squares": (list(points), list(points.values()))}, title="Squares grow faster than numbers", xlabel="x", ylabel="y")


ENTRY = Entry(id="euclid_1", paper="euclid", item="Figure 1", lesson="one_hot", setup="none", measure=squares, draw=draw,
              alt="Line chart of squares against numbers, rising faster and faster.", printed={"squares": {1: 1.0, 2: 4.0}}, scales=SCALES,
              claims=(Claim("squares grow", lambda m: m["squares"][2] > m["squares"][1]), Claim("squares shrink", lambda m: m["squares"][2] < 1)))


def test_picture_and_numbers_are_written_with_what_made_them(tmp_path):
    outcome = run(ENTRY, scale="smoke", seed=5, folder=tmp_path / "new folder")
    assert outcome.verdicts == {"squares grow": True, "squares shrink": False} and not outcome.ok
    picture, numbers = outcome.files
    assert "<svg" in picture.read_text("utf-8")
    written = json.loads(numbers.read_text("utf-8"))
    assert written["measured"] == {"squares": [[1.0, 6.0], [2.0, 9.0]], "endless": [[1.0, None]]}
    assert written["printed"] == {"squares": [[1.0, 1.0], [2.0, 4.0]]}
    assert written["claims"] == outcome.verdicts and written["scale"] == "smoke" and written["settings"] == {"n": 2} and written["seed"] == 5
    assert "numpy" in written["device"]["versions"] and written["date"]


def test_the_scale_decides_the_settings(tmp_path):
    assert len(run(ENTRY, scale="paper", folder=tmp_path).measured["squares"]) == 4
    with pytest.raises(ValueError, match=r"scale='papers'.*paper"):
        run(ENTRY, scale="papers", folder=tmp_path)


def test_an_entry_without_a_claim_or_a_scale_is_refused():
    with pytest.raises(ValueError, match="euclid_1: claims is empty"):
        dataclasses.replace(ENTRY, claims=())
    with pytest.raises(ValueError, match="euclid_1: scales has smoke; expected settings for smoke, laptop, paper"):
        dataclasses.replace(ENTRY, scales={"smoke": {}})
