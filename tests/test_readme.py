"""The README tells the truth: its commands exist, its example runs; in CI in a fresh clone."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from lessons_lib.core import PROJECT

README = (PROJECT / "README.md").read_text("utf-8")
TABLE = README.split("| you want to | run |\n")[1].split("\n\n")[0].splitlines()[1:]

# The commands of that table: what is added to run them at their smallest in a clone, on a file
# texts.txt and a folder FOLDER; or that they print the line that installs an extra set; or why
# they are run elsewhere.
SMALL = ["--dim", "8", "--epochs", "1", "--min-count", "1"]
STEPS = ["--scale", "smoke", "--steps", "2", "--out"]
RUN = {
    "doctor": [], "data list": [], "evaluate TF-IDF --on course-sts": [],
    "evaluate course-vectors": [], "train word2vec texts.txt --out vectors": SMALL,
    "train lda": ["texts.txt", "--out", "topics", "--n-topics", "3", "--n-epochs", "1"],
    "pretrain --text texts.txt --out my-bert": ["--scale", "smoke", "--tokens", "2000"],
    "export course-vectors --to glove --out FILE": [], "neighbours coffee": [],
    'neighbours "A dog runs on the beach."': [],
    'similar "I love my cat." "My kitten is adorable."': [], "map texts.txt": [],
    "encode lesson-bag texts.txt --out vectors.npy": [], 'search FOLDER "your question"': [],
    "train simcse --scale laptop --out my-simcse": ["--steps", "2", "--evaluate-every", "2"],
    "train sbert": [*STEPS, "my-sbert"], "train cosent": [*STEPS, "my-cosent"],
    "reproduce blei2003_table1": ["--scale", "smoke", "--out", "records"], "leaderboard": [],
    "progress": []}
NEEDS_EXTRA = {
    "count texts.txt --method bm25 --workers 2 --out counts", "evaluate lesson-bert --mteb",
    "export lesson-bert --to onnx --out FOLDER", "cards", "site",
    "slides anisotropy simcse"}
ELSEWHERE = {
    "lab": "the test of the fresh clone starts it", "run": "by .ci/run, with nothing but a clone",
    "test": "by .ci/run", "data get stsb": "needs the network", "data get --all": "as data get",
    "reproduce --all --gallery": "takes hours; tests/reproduce has each entry at its smallest"}


def of_the_table() -> list[str]:
    """The commands of the table without ``python -m lessons_lib``, also where a cell is short."""
    return [span.removeprefix("python -m lessons_lib ") for row in TABLE
            for span in re.findall(r"`([^`]+)`", row.rsplit("|", 2)[1])]


def test_every_command_of_the_table_is_run_somewhere():
    assert sorted(of_the_table()) == sorted([*RUN, *NEEDS_EXTRA, *ELSEWHERE]), (
        "Add a new line of the README's table to RUN, NEEDS_EXTRA or ELSEWHERE; remove an old one")


def commands() -> list[list[str]]:
    """Every ``python -m lessons_lib …`` of the README, as arguments after the module."""
    found = re.findall(r"python -m lessons_lib ([^`\n]+)", README)
    return [list(dict.fromkeys(f.split())) for f in dict.fromkeys(found)]


def test_every_command_of_the_readme_exists():
    from typer.main import get_command

    from lessons_lib.cli import app

    known = get_command(app).commands
    assert {"run", "test", "lab", "doctor", "data", "evaluate",
            "leaderboard"} <= {c[0] for c in commands()} <= set(known)


@pytest.mark.essential
def test_the_example_of_the_readme_runs():
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT)
    assert done.returncode == 0, done.stderr
    assert re.match(r"0\.\d+ \(", done.stdout)


def test_the_picture_and_the_links_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (PROJECT / target).exists(), target


def clean_environment(home: Path) -> dict[str, str]:
    """The user's variables without this project's, but for the threads."""
    skip = ("LESSONS_", "VIRTUAL_ENV", "CONDA", "PYTHON", "PYTEST")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(skip) or k == "LESSONS_THREADS"}
    return kept | {"LESSONS_CACHE": str(home / "cache")}


def call(clone: Path, *arguments: str, limit: float = 900) -> subprocess.CompletedProcess:
    base = Path(sys.base_prefix) / ("python.exe" if os.name == "nt" else "bin/python3")
    return subprocess.run([str(base), "-m", "lessons_lib", *arguments], cwd=clone,
                          env=clean_environment(clone.parent), capture_output=True, text=True,
                          timeout=limit, stdin=subprocess.DEVNULL)


def follow_the_table(clone: Path, texts: str) -> None:
    """Run each command of the table in a clone, where these are the reader's texts."""
    (clone / "FOLDER").mkdir()
    for file in ("texts.txt", "FOLDER/texts.txt"):
        (clone / file).write_text(texts, "utf-8")
    for line, more in RUN.items():
        done = call(clone, *shlex.split(line), *more)
        assert done.returncode == 0, f"{line}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    for line in NEEDS_EXTRA:
        done = call(clone, *shlex.split(line.replace("FOLDER", "onnx")))
        assert done.returncode == 2 and "pip install" in done.stderr, f"{line}\n{done.stderr}"


def lab_answers(clone: Path) -> bool:
    """Whether JupyterLab, started as told, serves the first lesson to who holds the token."""
    base = Path(sys.base_prefix) / ("python.exe" if os.name == "nt" else "bin/python3")
    # CI may run as root; the command itself never says this
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [str(base), "-m", "lessons_lib", "lab", "--no-browser", "--ServerApp.port=18765",
               *root]
    environment = clean_environment(clone.parent) | {
        "JUPYTER_RUNTIME_DIR": str(clone.parent / "runtime")}
    server = subprocess.Popen(command, cwd=clone, env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        for _ in range(120):
            time.sleep(0.5)
            for file in (clone.parent / "runtime").glob("jpserver-*.json"):
                info = json.loads(file.read_text("utf-8"))
                assert info["token"] and "127.0.0.1" in info["url"]
                # JupyterLab's root is the lesson's folder
                address = f"{info['url']}api/contents/00_start_here.ipynb?content=0"
                with pytest.raises(urllib.error.HTTPError, match="403"):
                    urllib.request.urlopen(address)
                request = urllib.request.Request(
                    address, headers={"Authorization": f"token {info['token']}"})
                return urllib.request.urlopen(request).status == 200
        return False
    finally:
        _stop(server)


def _remarks(details: Path, lesson: str) -> set[str]:
    with details.open(encoding="utf-8-sig", newline="") as file:
        return {row["remark"] for row in csv.DictReader(file) if row["lesson"] == lesson}


def _stop(server: subprocess.Popen) -> None:
    import psutil

    family = psutil.Process(server.pid).children(recursive=True)
    for process in (*family, server):
        process.terminate()
    server.wait(20)


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("LESSONS_TEST_FRESH_CLONE") != "1",
                    reason="needs LESSONS_TEST_FRESH_CLONE=1, as .ci/run sets it")
def test_the_commands_of_the_readme_work_in_a_fresh_clone(tmp_path):
    clone = tmp_path / "embeddings measured"                    # a space in the path
    subprocess.run(["git", "clone", "--quiet", str(PROJECT), str(clone)], check=True)
    first = call(clone, "run", "one_hot", limit=1800)           # all of them: .ci/run
    assert first.returncode == 0, first.stdout[-3000:] + first.stderr[-3000:]
    assert "Setting up" in first.stdout and "Leaderboard" in first.stdout
    second = call(clone, "list", limit=30)
    assert second.returncode == 0 and "Setting up" not in second.stdout
    assert "one_hot" in second.stdout
    lessons = "\n".join(path.read_text("utf-8")
                        for path in sorted((clone / "notebooks").glob("[0-9]*.md")))
    sentences = re.findall(r"^[A-Z][^|`$*\n]{60,}$", lessons, re.M)
    follow_the_table(clone, "\n".join(sentences))
    assert "su2021_table1" in call(clone, "reproduce").stdout
    assert "## Minutes" in call(clone, "guide", "one_hot").stdout
    assert call(clone, "assign", "one_hot", "bag_of_words", "--out", "hw1").returncode == 0
    shutil.copy(clone / "hw1" / "grading" / "01_one_hot_solved.ipynb",
                clone / "hw1" / "submissions" / "ada.ipynb")
    graded = call(clone, "grade", "hw1", "--weak")
    points = re.search(r"ada\W+(\d+)\W+(\d+)\W", graded.stdout)    # one of two lessons, solved
    assert points and 0 < int(points[1]) < int(points[2]), graded.stdout + graded.stderr
    assert _remarks(clone / "hw1" / "details.csv", "one_hot") == {"correct", "not answered"}
    tests = call(clone, "test", "tests/core")
    assert tests.returncode == 0 and " passed" in tests.stdout, tests.stdout[-3000:]
    assert lab_answers(clone)
