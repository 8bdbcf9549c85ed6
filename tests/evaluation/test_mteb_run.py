"""MTEB over our pairs: without a network, the same score, and never taken for an official run."""

from __future__ import annotations

import json
import socket
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.core import BackendUnavailable
from lessons_lib.datasets import Documents, RetrievalSet
from lessons_lib.evaluation import evaluate, evaluate_retrieval
from lessons_lib.evaluation.mteb_run import mteb_scores

RNG = np.random.default_rng(0)
TEXTS = [f"text {i}" for i in range(40)]
PAIRS = SimpleNamespace(name="a set/of pairs", split="test", scale=(0, 5), sentence1=TEXTS[:30],
                        sentence2=TEXTS[10:], score=RNG.uniform(0, 5, 30))
TABLE = dict(zip(TEXTS, RNG.normal(size=(40, 6)).astype(np.float32), strict=True))


class Toy:
    """A vector for each known text."""

    name, dim = "../my encoder", 6

    def encode(self, texts, *, batch_size=256, progress=False):
        return np.array([TABLE[text] for text in texts])


@pytest.mark.slow
def test_the_score_is_ours_and_the_json_says_that_it_is_no_official_run(tmp_path, monkeypatch):
    pytest.importorskip("mteb", reason="of the extra set mteb")

    def refuse(*_):
        raise OSError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    ours = evaluate(Toy(), {"first": PAIRS, "second": PAIRS}, bootstrap=0)
    theirs = mteb_scores(Toy(), {"first": PAIRS, "second": PAIRS}, tmp_path)
    assert theirs == pytest.approx({name: r.spearman for name, r in ours.items()}, abs=1e-6)
    place = tmp_path / "lessons_lib-local__my-encoder"
    (revision,) = place.iterdir()
    assert revision.name.startswith("not-an-official-run")
    assert {path.name for path in revision.iterdir()} == {
        "Local-first.json", "Local-second.json", "model_meta.json"}
    task = json.loads((revision / "Local-first.json").read_text("utf-8"))
    assert task["dataset_revision"].startswith("local-")
    assert task["scores"]["test"][0]["main_score"] == pytest.approx(theirs["first"], abs=1e-6)
    assert json.loads((revision / "model_meta.json").read_text("utf-8"))["embed_dim"] == 6


@pytest.mark.slow
def test_a_folder_that_cannot_be_made_is_said_before_anything_is_measured(tmp_path):
    pytest.importorskip("mteb", reason="of the extra set mteb")
    (tmp_path / "mteb").write_text("mine")
    with pytest.raises(OSError, match=r"cannot write .*LESSONS_OUTPUT moves the folder"):
        mteb_scores(Toy(), {"first": PAIRS}, tmp_path / "mteb")


@pytest.mark.slow
def test_questions_get_our_ndcg_without_a_bar_of_its_own(tmp_path, capsys):
    pytest.importorskip("mteb", reason="of the extra set mteb")
    asked = RetrievalSet(TEXTS[:6], [{i: 1.0, i + 3: 1.0} for i in range(6)],
                         Documents(TEXTS[6:]), "asked", "test")
    theirs = mteb_scores(Toy(), {}, tmp_path, questions={"asked": asked})
    assert capsys.readouterr().err == ""
    ours = evaluate_retrieval(Toy(), asked, bootstrap=0)
    assert 0 < ours.ndcg < 1 and theirs == {"asked": pytest.approx(ours.ndcg, abs=1e-5)}


def test_without_the_package_the_extra_set_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mteb", None)
    with pytest.raises(BackendUnavailable, match=r"pip install .*\[mteb\]"):
        mteb_scores(Toy(), {"first": PAIRS}, tmp_path)


def test_what_is_no_encoder_is_refused_before_anything_is_written(tmp_path):
    pytest.importorskip("mteb", reason="of the extra set mteb")
    with pytest.raises(TypeError, match="expected an Encoder"):
        mteb_scores("toy", {"first": PAIRS}, tmp_path)
    assert not any(tmp_path.iterdir())
