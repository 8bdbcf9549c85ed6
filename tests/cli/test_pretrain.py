"""``lessons pretrain``: number first, train then, stop and go on; mistakes come out as one line."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from lessons_lib.contextual import TokenStream
from lessons_lib.contextual.saved_bert import load_bert


@pytest.fixture
def text(tmp_path):
    """Sixty documents, each one line of some sentences."""
    rng = np.random.default_rng(0)
    words = ["sea", "field", "ships", "sail", "cows", "graze", "harbour", "walking"]
    lines = [" ".join(" ".join(rng.choice(words, size=rng.integers(4, 12))).capitalize() + "."
                      for _ in range(20)) for _ in range(60)]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_text_is_numbered_once_then_trained_on_in_two_sittings(lessons, tmp_path, text):
    out, common = tmp_path / "bert", ("--scale", "smoke", "--text", text, "--out",
                                      tmp_path / "bert", "--tokens", 5000)
    code, said, _ = lessons("pretrain", *common, "--prepare")
    assert code == 0 and "pieces of" in said and not (out / "card.json").exists()
    stream = TokenStream.load(out / "tokens")
    assert stream.starts.sum() == 60 * 20 and stream.data["sources"] == [str(text)]
    code, said, _ = lessons("pretrain", *common, "--minutes", 0)
    assert code == 0 and "1 of 20 steps" in said and "--resume" in said
    code, said, _ = lessons("pretrain", *common, "--resume")
    assert code == 0 and "20 of 20 steps, 5,120 tokens, held-out masked accuracy" in said
    card = json.loads((out / "card.json").read_text())
    assert card["recipe"]["tokens"] == 5000 and card["data"]["library"]
    load_bert(out)


def test_a_model_goes_on_with_another_text_in_its_own_tokens(lessons, tmp_path, text):
    common = ("--scale", "smoke", "--text", text, "--tokens", 512)
    assert lessons("pretrain", *common, "--out", tmp_path / "bert")[0] == 0
    other = tmp_path / "other.txt"
    other.write_text("\n".join(reversed(text.read_text().splitlines())))
    code, said, err = lessons("pretrain", *common[:3], other, *common[4:], "--out", tmp_path / "on",
                              "--start", tmp_path / "bert")
    assert code == 0 and "2 of 2 steps" in said, err
    card = json.loads((tmp_path / "on" / "card.json").read_text())
    assert card["data"]["start"]["name"] == "bert" == card["data"]["pieces learned from"]
    assert (load_bert(tmp_path / "on")[1].pieces == load_bert(tmp_path / "bert")[1].pieces)
    code, _, said = lessons("pretrain", *common, "--out", tmp_path / "x", "--start",
                            tmp_path / "none")
    assert code == 2 and "none" in said
    code, _, said = lessons("pretrain", *common, "--out", tmp_path / "x", "--start", "lesson-bert")
    assert code == 2 and "give the recipe its sizes" in said


def test_the_plan_follows_from_the_length_of_the_text_and_is_kept_when_resumed(
        lessons, tmp_path, text, monkeypatch):
    monkeypatch.setattr(sys.modules["lessons_lib.cli.pretrain"], "MOST_PASSES", 1)
    common = ("--scale", "smoke", "--text", text, "--out", tmp_path / "bert")
    code, said, err = lessons("pretrain", *common, "--minutes", 0)
    length = len(TokenStream.load(tmp_path / "bert" / "tokens"))
    assert code == 0 and f"has {length:,} tokens and is read 1 times" in said, err
    assert 256 < length < 20_000 and f"1 of {-(-length // 256)} steps" in said
    monkeypatch.setattr(sys.modules["lessons_lib.cli.pretrain"], "MOST_PASSES", 3)
    code, said, err = lessons("pretrain", *common, "--resume", "--minutes", 0)
    assert code == 0 and f"2 of {-(-length // 256)} steps" in said, err


def test_a_run_with_other_settings_is_refused_in_one_line(lessons, tmp_path, text):
    common = ("--scale", "smoke", "--text", text, "--out", tmp_path / "bert", "--tokens", 300)
    assert lessons("pretrain", *common)[0] == 0
    code, _, said = lessons("pretrain", *common, "--resume", "--whole-words", "--dropout", 0.1)
    assert code == 2 and "dropout=0.1 (there: 0.0), whole_words=True (there: False)" in said
    code, _, said = lessons("pretrain", *common)
    assert code == 2 and "holds a run already" in said


def test_a_wrong_scale_is_named(lessons, tmp_path):
    code, _, said = lessons("pretrain", "--scale", "labtop", "--out", tmp_path)
    assert code == 2 and "Did you mean 'laptop'?" in said


def test_several_processes_want_numbered_text(lessons, monkeypatch, tmp_path, text):
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, _, said = lessons("pretrain", "--scale", "smoke", "--text", text, "--out",
                            tmp_path / "bert")
    assert code == 2 and "--prepare" in said


def test_mistakes_are_told_before_the_text_is_numbered(lessons, tmp_path, text):
    common = ("--scale", "smoke", "--text", text, "--out", tmp_path / "bert")
    mistakes = {("--resume",): "holds no run to go on with", ("--device", "tpu"): "device='tpu'",
                ("--minutes", -1): "stop_after_minutes",
                ("--tokens-from", tmp_path / "nowhere"): "does not exist"}
    for wrong, words in mistakes.items():
        code, _, said = lessons("pretrain", *common, *wrong)
        assert code == 2 and words in said, said
    assert not (tmp_path / "bert" / "tokens").exists() and not (tmp_path / "nowhere").exists()


def test_another_text_than_the_numbered_one_is_not_ignored(lessons, tmp_path, text):
    common = ("--scale", "smoke", "--out", tmp_path / "bert", "--tokens", 300)
    assert lessons("pretrain", *common, "--text", text, "--prepare")[0] == 0
    other = tmp_path / "other.txt"
    other.write_text(text.read_text())
    code, _, said = lessons("pretrain", *common, "--text", other)
    assert code == 2 and "holds the numbered text of" in said
    assert lessons("pretrain", *common)[0] == 0
