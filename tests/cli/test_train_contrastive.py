"""``lessons train simcse|sbert|cosent``: a folder that every command reads, also by torchrun."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from lessons_lib import cli
from lessons_lib.cli import training_data
from lessons_lib.contextual import BertSize, LessonBertForPretraining, WordPiece
from lessons_lib.contextual import load_encoder, save_bert
from lessons_lib.contrastive import CoSent, Distil, SBert, SimCse
from lessons_lib.contrastive.recipes import RECIPES
from lessons_lib.contrastive.training import Training
from lessons_lib.core import PROJECT

QUICK = ("--scale", "smoke", "--device", "cpu", "--seed", 3)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A tiny BERT in a folder."""
    folder = tmp_path_factory.mktemp("tiny")
    pieces = WordPiece.train(["a man is playing a guitar and a woman is slicing an onion"] * 20,
                             size=80)
    size = BertSize(len(pieces), dim=16, layers=2, heads=2, feed_forward=32, positions=300)
    save_bert(folder, LessonBertForPretraining(size, seed=1), pieces, card={"name": "tiny"})
    return folder


COMMANDS = [(("simcse",), SimCse), (("simcse", "--supervised", "--pooling", "cls"), SimCse),
            (("sbert",), SBert), (("sbert", "--objective", "cosine"), SBert),
            (("sbert", "--objective", "triplet", "--margin", "0.5"), SBert),
            (("cosent", "--steepness", "10"), CoSent),
            (("distil", "--relations", "2"), Distil)]


@pytest.mark.slow
@pytest.mark.parametrize("command", [command for command, _ in COMMANDS[:-1]], ids=" ".join)
def test_without_a_public_set_the_course_s_own_takes_its_place_and_this_is_said(
        lessons, tmp_path, bert, monkeypatch, command):
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    code, said, err = lessons("train", *command, "--encoder", bert, "--out", tmp_path / "m",
                              "--scale", "laptop", "--steps", 2, "--batch-size", 4, "--device",
                              "cpu")
    assert code == 0 and "2 steps" in said, err
    assert err.count("is not here, so course-") == 2 and "lessons data get stsb" in err
    code, _, err = lessons("train", *command, "stsb", "--encoder", bert, "--out", tmp_path / "n")
    assert code == 2 and "stsb" in err, "a set that is asked for by name is not replaced"


@pytest.mark.parametrize(("command", "kind"), COMMANDS,
                         ids=[" ".join(command) for command, _ in COMMANDS])
def test_each_method_leaves_a_folder_that_every_command_reads(
        lessons, tmp_path, bert, command, kind):
    out = tmp_path / "m"
    more = ("--teacher", bert) if kind is Distil else ()
    code, said, err = lessons("train", *command, *more, "--encoder", bert, "--out", out, *QUICK)
    assert code == 0, err
    assert re.search(r"4 steps; Spearman x 100 on the dev pairs of course-sts: -?[\d.]+ before, "
                     r"-?[\d.]+ after step \d", said)
    assert f"lessons evaluate {out}\n" in said and f"{kind.__name__}.load" in said
    trainer, encoder = kind.load(out), load_encoder(out, device="cpu")
    assert trainer.history_.step.tolist() == [0, 2, 4]
    assert trainer.seed == 3 and trainer.n_steps_ == 4
    assert np.array_equal(trainer.encode(["a man"]), encoder.encode(["a man"]))
    if command == ("simcse",):
        code, said, _ = lessons("evaluate", out)
        assert code == 0 and "course-sts" in said


@pytest.mark.essential
def test_a_bag_and_its_control_learn_as_a_bert_does(lessons, tmp_path):
    for name in ("bag", "bag-random"):
        code, said, err = lessons("train", "cosent", "--encoder", name, "--out", tmp_path / name,
                                  *QUICK)
        assert code == 0 and "4 steps" in said, err
    ours, control = (load_encoder(tmp_path / name) for name in ("bag", "bag-random"))
    assert ours.dim == control.dim == 200 and ours.reader.kind == "bag"


def test_a_bag_begins_with_its_teacher_s_words_and_goes_on(lessons, tmp_path, bert):
    command = ("train", "distil", "--encoder", "bag", "--teacher", bert, "--out", tmp_path / "m")
    code, _, err = lessons(*command, *QUICK)
    assert code == 0, err
    pupil = load_encoder(tmp_path / "m")
    assert pupil.dim == 16 and pupil.reader.kind == "bag"
    code, said, err = lessons("train", "compact", tmp_path / "m", "--out", tmp_path / "small")
    assert code == 0 and "16 numbers a vector" in said, err
    small = load_encoder(tmp_path / "small")
    assert small.card["method"] == "distilled" and small.card["dtype"] == "int8"
    assert np.allclose(small.encode(["a man"]), pupil.encode(["a man"]), atol=0.01)
    code, said, err = lessons(*command, *QUICK, "--resume")
    assert code == 0 and "4 steps" in said, err


@pytest.mark.slow
@pytest.mark.parametrize(("cause", "status", "said"), [
    (KeyboardInterrupt, 130, "stopped after step 3"),
    (ConnectionError("process 0 of 2 has lost the others"), 2, "has lost the others")])
def test_a_stopped_run_is_kept_and_goes_on_to_the_same_bits(lessons, monkeypatch, tmp_path, bert,
                                                            cause, status, said):
    common = ("train", "simcse", "--encoder", bert, *QUICK, "--steps", 5, "--dev", "none")
    plain = Training.step

    def step(self):
        if self.record.step == 3 and cause is not KeyboardInterrupt:
            raise cause
        plain(self)
        if self.record.step == 3 and cause is KeyboardInterrupt:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Training, "step", step)
        code, _, err = lessons(*common, "--out", tmp_path / "cut")
    assert code == status and said in err and SimCse.load(tmp_path / "cut").n_steps_ == 3
    for name, more in (("whole", ()), ("cut", ("--resume",))):
        code, _, err = lessons(*common, "--out", tmp_path / name, *more)
        assert code == 0, err
    whole, cut = (load_encoder(tmp_path / name, device="cpu") for name in ("whole", "cut"))
    assert np.array_equal(whole.encode(["a man is playing"]), cut.encode(["a man is playing"]))


def test_mistakes_come_out_as_one_line_before_any_work(lessons, tmp_path, bert):
    out = tmp_path / "m"
    common = ("--encoder", bert, "--out", out, *QUICK)
    for arguments, message in [(("simcse", "no-such-data"), "neither a file nor a dataset"),
                               (("simcse", "stbs"), "did you mean 'stsb'"),
                               (("sbert", "--objective", "softmx"), "Did you mean 'softmax'"),
                               (("simcse", "--resume"), "holds no run to go on with"),
                               (("simcse", "--scale", "labtop"), "Did you mean 'laptop'"),
                               (("cosent", "course-nli"), "no graded pairs"),
                               (("sbert", "course-sts"), "no labelled pairs"),
                               (("simcse", "--supervised", "course-sts"), "no triplets"),
                               (("simcse", "--dev", "course-nli"), "course-nli holds Triplets"),
                               (("simcse", "--dropout", "2"), "dropout=2"),
                               (("simcse", "--batch-size", "1"), "batch_size=1")]:
        code, _, err = lessons("train", arguments[0], *common, *arguments[1:])
        assert code == 2 and message in err, (arguments, err)
    assert not (out / "config.json").exists()
    assert lessons("train", "cosent", *common)[0] == 0
    assert "holds a run already" in lessons("train", "cosent", *common)[2]
    more = ("--resume", "--batch-size", "4")
    assert "batch_size=4 cannot change" in lessons("train", "cosent", *common, *more)[2]
    assert "CoSent.load" in lessons("train", "simcse", *common, "--resume")[2]
    there = (*common[:2], "--out", bert, *QUICK)
    assert "holds a model already" in lessons("train", "cosent", *there)[2]


def test_files_are_data_too(lessons, tmp_path, bert):
    (tmp_path / "lines.txt").write_text("\n".join(f"a man is {i} onions old"
                                                  for i in range(12)) + "\n\n")
    rows = "\n".join(f"a {i}\ta {i + 1}\t{i % 6}" for i in range(12))
    (tmp_path / "pairs.tsv").write_text(f"sentence1\tsentence2\tscore\n{rows}\n")
    (tmp_path / "labels.tsv").write_text(f"sentence1\tsentence2\tlabel\n{rows}\n")
    (tmp_path / "other.tsv").write_text("a\tb\n1\t2\n")
    common = ("--encoder", bert, *QUICK, "--dev", tmp_path / "pairs.tsv", "--steps", 2)
    for i, (command, name) in enumerate([("simcse", "lines.txt"), ("cosent", "pairs.tsv"),
                                         ("sbert", "labels.tsv"), ("simcse", "pairs.tsv")]):
        code, said, err = lessons("train", command, tmp_path / name, "--out",
                                  tmp_path / str(i), *common)
        assert code == 0 and "2 steps" in said, err
    assert SBert.load(tmp_path / "2").classes_ == ("0", "1", "2", "3", "4", "5")
    assert "has the columns a, b" in lessons("train", "cosent", tmp_path / "other.tsv", "--out",
                                             tmp_path / "5", *common)[2]
    code, said, _ = lessons("train", "simcse", tmp_path / "lines.txt", "--out",
                            tmp_path / "6", *common[:-4], "--dev", "none")
    assert code == 0 and "Spearman" not in said


def test_classes_of_inference_have_an_order():
    from lessons_lib.datasets import LabelledPairs

    pairs = LabelledPairs(["a", "b", "c"], ["d", "e", "f"],
                          ["neutral", "contradiction", "entailment"], ["x"] * 3)
    assert training_data.graded([pairs])[2].tolist() == [0.5, 0.0, 1.0]
    with pytest.raises(ValueError, match="no order"):
        training_data.graded([LabelledPairs(["a"], ["b"], ["odd"], ["x"])])


@pytest.mark.filterwarnings("ignore:.*were cut")
@pytest.mark.parametrize("command", [("simcse",), ("simcse", "--supervised"), ("cosent",),
                                     ("sbert",)], ids=" ".join)
def test_the_paper_s_settings_need_only_names(lessons, monkeypatch, tmp_path, bert, command):
    seen = {}
    monkeypatch.setattr(cli.contrastive, "_said",
                        lambda trainer, *rest: seen.update(trainer.get_params()) or "")
    data = {"simcse": "course-sts", "cosent": "course-sts",
            "sbert": "course-nli"}[command[0]] if len(command) == 1 else "course-nli"
    code, _, err = lessons("train", *command, data, "--dev", "course-sts",
                           "--scale", "paper", "--encoder", bert, "--out", tmp_path / "m",
                           "--device", "cpu", "--steps", 1, "--batch-size", 4)
    assert code == 0, err
    wanted = {("simcse",): (3e-5, 32, "cls"), ("simcse", "--supervised"): (5e-5, 32, "cls"),
              ("cosent",): (2e-5, 64, "cls"), ("sbert",): (2e-5, None, "last")}[command]
    assert (seen["learning_rate"], seen["max_length"], seen["pooling"]) == wanted


def torchrun(bert, out, processes, *more, command="simcse"):
    """The command in several processes, as a person starts it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"LESSONS_NO_VENV": "1", "OMP_NUM_THREADS": "1",
                                "PYTHONPATH": str(PROJECT)}
    launch = [] if processes == 1 else ["-m", "torch.distributed.run", "--nproc-per-node",
                                        str(processes), "--master-port", str(port)]
    arguments = ["-m", "lessons_lib", "train", command, "--encoder", str(bert), "--out", str(out),
                 *map(str, QUICK), *map(str, more)]
    return subprocess.Popen([sys.executable, *launch, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment,
                            start_new_session=True)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["simcse", "cosent"])
def test_two_processes_give_what_one_gives(tmp_path, bert, command):
    found = []
    for processes in (1, 2):
        done = torchrun(bert, tmp_path / str(processes), processes, "--chunk", 4, "--steps", 6,
                        command=command)
        out, err = done.communicate(timeout=240)
        assert done.returncode == 0, err[-3000:]
        assert out.count("lessons evaluate") == 1
        # those of the whole batch, not of a process's share of it or of a chunk
        rows = RECIPES[command, "smoke"]["batch_size"]
        assert (f"against {rows - 1} negatives" in out) == (command == "simcse"), out
        found.append({"simcse": SimCse, "cosent": CoSent}[command].load(tmp_path / str(processes)))
    one, two = found
    assert np.allclose(one.history_.loss[1:], two.history_.loss[1:], rtol=1e-5)
    assert np.abs(one.encode(["a man is playing"]) - two.encode(["a man is playing"])).max() < 1e-5


@pytest.mark.slow
def test_when_one_process_is_killed_the_other_says_so_and_the_run_goes_on(tmp_path, bert):
    out, more = tmp_path / "m", ("--chunk", 4, "--steps", 200, "--evaluate-every", 5, "--dev",
                                 "none", "--checkpoint-minutes", 0)
    done = torchrun(bert, out, 2, *more)
    deadline = time.monotonic() + 120
    while not list(
            out.glob("run-*/model.json")) and done.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    workers = [int(pid) for pid in subprocess.run(["pgrep", "-P", str(done.pid)],
                                                  capture_output=True, text=True).stdout.split()]
    assert len(workers) >= 2, done.communicate(timeout=60)
    ranks = {}
    for pid in workers:
        with open(f"/proc/{pid}/environ", "rb") as file:
            ranks |= {int(entry[5:]): pid
                      for entry in file.read().split(b"\0") if entry.startswith(b"RANK=")}
    os.kill(ranks[1], signal.SIGKILL)
    _, err = done.communicate(timeout=120)
    assert done.returncode != 0 and ("has lost the others" in err
                                     or "stopped after step" in err), err[-3000:]
    card = max((json.loads(path.read_text())["extra"]["record"]["step"]
                for path in out.glob("run-*/model.json")), default=0)
    assert card > 0
    again = torchrun(bert, out, 1, "--dev", "none", "--resume")
    _, err = again.communicate(timeout=240)
    assert again.returncode == 0, err[-3000:]
    assert SimCse.load(out).n_steps_ == 200
