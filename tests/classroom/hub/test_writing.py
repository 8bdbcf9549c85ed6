"""The folder of a hub: whole, without secrets where others read, the course for reading only."""

from __future__ import annotations

import asyncio
import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from string import Template

import pytest
import yaml

from lessons_lib.classroom import hub as room
from lessons_lib.classroom.hub import (
    Hub,
    draw_passwords,
    measured,
    names_from,
    new_accounts,
    read_hub,
    right_password,
    start_command,
    update_course,
    without_password,
    write_hub,
)
from lessons_lib.classroom.hub.server import lay_out
from lessons_lib.core import PROJECT, BackendUnavailable


def test_everything_is_there_and_nothing_more_than_it_needs(written):
    folder, _ = written
    assert {path.name for path in folder.iterdir()} == {
        "README.md", "hub.json", "passwords.csv", "jupyterhub_config.py", "course", "Dockerfile",
        "requirements.txt", "constraints.txt", "values.yaml", ".gitignore", ".dockerignore"}
    assert (folder / ".gitignore").read_text() == "*\n", "passwords, perhaps within a clone"
    assert {path.name for path in (folder / "course").iterdir()} == {"lessons_lib", "notebooks",
                                                                     "data", "figures"}


@pytest.mark.skipif(shutil.which("git") is None or not (PROJECT / ".git").exists(),
                    reason="no clone, or no git")
def test_the_course_is_what_is_committed_and_nothing_else(written):
    """Told by names and not by git, which a downloaded course does not have."""
    asked = ["notebooks", "data", "figures"]
    listed = subprocess.run(["git", "ls-files", "-z", *asked], cwd=PROJECT, capture_output=True,
                            text=True, check=True)
    course = written[0] / "course"
    parts = [course / part for part in ("notebooks", "data", "figures")]
    copied = ({path.relative_to(course).as_posix() for part in parts
               for path in part.rglob("*") if path.is_file()})
    new = subprocess.run(["git", "ls-files", "-z", "--others", "--exclude-standard"], cwd=PROJECT,
                         capture_output=True, text=True, check=True)
    assert set(listed.stdout.split("\0")) - {""} == copied - set(
        new.stdout.split("\0")), "BROUGHT in writing.py names what the course brings"


def test_a_solved_notebook_and_what_else_lies_about_goes_to_nobody(tmp_path):
    mine = ("lessons_lib/__init__.py", "notebooks/01_one_hot.md", "notebooks/01_one_hot.ipynb",
            "notebooks/references.bib", "data/course_sts.tsv", "figures/a.svg")
    strays = ("notebooks/hw1/one_hot.ipynb", "notebooks/01_one_hot_solved.ipynb",
              "notebooks/01_one_hot-Copy1.ipynb", "notebooks/grades.csv", "data/names.csv",
              "data/sts/stsb_en_test.tsv", "data/models/bert/model.safetensors",
              "figures/hw1/a.svg", "notebooks/.secret",
              "notebooks/.ipynb_checkpoints/01_one_hot-checkpoint.ipynb", "data/vectors/.old.json")
    for name in (*mine, *strays):
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "clone" / name).write_text(name)
    room.writing._copy_course(tmp_path / "course", tmp_path / "clone")
    assert {path.relative_to(tmp_path / "course").as_posix()
            for path in (tmp_path / "course").rglob("*") if path.is_file()} == set(mine)


def test_passwords_lie_in_one_file_that_only_its_owner_reads(written):
    folder, passwords = written
    rows = list(csv.reader((folder / "passwords.csv").read_text("utf-8").splitlines()))
    assert rows == [["name", "password"], *map(list, passwords.items())]
    assert set(passwords) == {"teacher", "anna", "bo"}
    assert (folder / "passwords.csv").stat().st_mode & 0o077 == 0
    assert (folder / "values.yaml").stat().st_mode & 0o077 == 0
    for path in folder.glob("*"):
        assert path.is_dir() or path.name == "passwords.csv" or not any(
            p in path.read_text("utf-8") for p in passwords.values()), path.name


def test_the_course_can_be_read_and_not_written(written):
    folder, _ = written
    assert not any(path.stat().st_mode & 0o222 for path in (folder / "course").rglob("*"))
    assert all(path.stat().st_mode & 0o444 == 0o444
               for path in (folder / "course").rglob("*")), "a container's student is another user"
    code = "import lessons_lib; print(lessons_lib.core.PROJECT)"
    environment = os.environ | {"PYTHONPATH": str(folder / "course")}
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=folder, env=environment,
                          capture_output=True, text=True)
    assert done.stdout.strip() == str(folder / "course"), done.stderr


def test_the_page_beside_it_names_the_limits_and_the_command(written):
    folder, _ = written
    page = (folder / "README.md").read_text("utf-8")
    for said in ("at most 1.5 GB", "after 20 minutes", "http://127.0.0.1:8123/",
                 f"python -m lessons_lib hub start {folder}", "nothing\nkeeps one student from the "
                 "files of another, or from those of this folder"):
        assert said in page
    assert "lessons hub " not in page, "outside of .venv there is no command lessons"
    assert not re.search(r"\$(?!home\b|name\b|\()", page), "what is left is the shell's"


def test_the_chart_has_the_same_limits_and_is_yaml(written):
    values = yaml.safe_load((written[0] / "values.yaml").read_text("utf-8"))
    server, cull = values["singleuser"], values["cull"]
    assert server["memory"]["limit"] == "1500M" and server["cpu"]["limit"] == 1
    assert server["networkPolicy"]["egressAllowRules"] == {
        "nonPrivateIPs": False}, "the chart opens the way to the internet unless it is told"
    assert server["memory"]["guarantee"] == f"{min(1500, round(measured().together_mb))}M"
    assert (cull["timeout"], cull["every"], cull["maxAge"]) == (1200, 120, 10800)
    assert values["proxy"]["https"]["enabled"] is True
    image = (written[0] / "Dockerfile").read_text("utf-8")
    home = server["storage"]["homeMountPath"]
    assert f"WORKDIR {home}\n" in image, "files outside the volume go with the server"
    assert server["extraEnv"]["LESSONS_COURSE"] == "/srv/course"
    assert server["extraEnv"]["HF_HUB_OFFLINE"] == "1"
    assert all(isinstance(value, str) for value in server["extraEnv"].values())


def chart_of(hub: Hub) -> tuple[dict, str]:
    """The chart's values and the page of a hub, without its folder."""
    fill = ({name: Template((room.writing.FILES / name).read_text("utf-8"))
             for name in ("values.yaml", "README.md")})
    page = fill["README.md"].substitute(room.writing._page(hub, Path("class")))
    return yaml.safe_load(fill["values.yaml"].substitute(room.writing._chart(hub))), page


def test_a_claim_is_made_only_for_models_that_were_asked_for(tmp_path):
    """Without the volume that it claims no server of the chart starts."""
    values, page = chart_of(Hub(("no", "anna"), teacher="on"))
    assert "models" not in str(values) and "HF_HUB_CACHE" not in values["singleuser"]["extraEnv"]
    assert "claimed as" not in page
    chart = room.writing._chart(Hub(("no", "anna"), teacher="on"))    # no truth values of YAML
    assert yaml.safe_load(f"[{chart['teacher']}, {chart['students']}]") == ["on", "no", "anna"]
    asked, told = chart_of(Hub(("anna",), models=str(tmp_path)))
    storage, environment = asked["singleuser"]["storage"], asked["singleuser"]["extraEnv"]
    assert storage["extraVolumes"][0]["persistentVolumeClaim"] == {"claimName": "models",
                                                                   "readOnly": True}
    assert "claimed as `models`" in told and storage["capacity"] == "1Gi"
    assert storage["extraVolumeMounts"][0]["mountPath"] == environment["HF_HUB_CACHE"]


def test_what_a_school_has_to_fill_in_stands_out(written):
    values = yaml.safe_load((written[0] / "values.yaml").read_text("utf-8"))
    https = values["proxy"]["https"]
    places = [*https["hosts"], https["letsencrypt"]["contactEmail"],
              values["singleuser"]["image"]["name"]]
    assert len(places) == 3 and all(place.startswith("CHANGE-ME") for place in places)
    page = (written[0] / "README.md").read_text("utf-8")
    assert "CHANGE-ME" in page and "**Passwords are others here, and `passwords.csv`" in page
    assert "`hub password` are not used" in page


def test_the_chart_lets_in_by_password_alone_and_the_teacher_by_another(written):
    text = (written[0] / "values.yaml").read_text("utf-8")
    found = yaml.safe_load(text)["hub"]["config"]
    assert found["JupyterHub"]["authenticator_class"] == "shared-password" and "dummy" not in text
    words = found["SharedPasswordAuthenticator"]
    assert len(words["user_password"]) == 16 and len(words["admin_password"]) == 32
    assert words["user_password"] != words["admin_password"]
    auth = pytest.importorskip("jupyterhub.authenticators.shared", reason="the extra set hub is "
                                                                          "not installed")
    door = auth.SharedPasswordAuthenticator(
        **words, **{name: set(names) for name, names in found["Authenticator"].items()})

    def opens(name: str, password: str) -> bool:
        return (asyncio.run(door.authenticate(None, {"username": name, "password": password}))
                is not None)

    assert opens("anna", words["user_password"]) and not opens("anna", "")
    assert not opens("teacher", words["user_password"]) and not door.allow_all


@pytest.mark.skipif(os.name != "posix", reason="the hub runs on POSIX")
def test_an_assignment_goes_out_comes_back_and_outlives_an_update_by_the_lines_of_the_page(
        tmp_path):
    new = ["chen", "bo-b"]
    hub = Hub(("anna", *new))
    folder, hw1 = tmp_path / "my class", tmp_path / "hw1"
    write_hub(hub, folder)
    page = room.writing._page(hub, Path("my class"))
    text = Template((room.writing.FILES / "README.md").read_text("utf-8")).substitute(page)
    out, back, feedback = (next(line for line in text.splitlines() if line.startswith(start)
                                and held in line) for start, held in (
        ("chmod u+w ", ""), ("for home ", "submissions"), ("for home ", "feedback")))
    for part in ("student", "submissions"):
        (hw1 / part).mkdir(parents=True)
    (hw1 / "student" / "01_one_hot.ipynb").write_text("stubs")
    subprocess.run(["sh", "-c", out], cwd=tmp_path, check=True)
    update_course(folder)
    assert not any(path.stat().st_mode & 0o222 for path in (folder / "course").rglob("*"))
    assert not list(folder.glob("course.*"))
    for name in ("anna", *new):
        (folder / "homes" / name).mkdir(parents=True)
    for name in new:
        lay_out(folder / "homes" / name, folder / "course")
        (folder / "homes" / name / "lessons" / "hw1" / "01_one_hot.ipynb").write_text(f"by {name}")
    for _ in range(2):  # who collects again gets the newer files, not a folder in a folder
        subprocess.run(["sh", "-c", back], cwd=tmp_path)
        came = ({path.relative_to(hw1).as_posix(): path.read_text()
                 for path in (hw1 / "submissions").rglob("*") if path.is_file()})
        assert came == {f"submissions/{name}/01_one_hot.ipynb": f"by {name}" for name in new}
        (hw1 / "feedback").mkdir(exist_ok=True)
        for name in ("bo-b", "zoe"):              # graded, and without a home
            (hw1 / "feedback" / f"{name}.html").write_text(f"for {name}")
        subprocess.run(["sh", "-c", feedback], cwd=tmp_path)
        pages = list((folder / "homes").rglob("*feedback*"))
        assert [page.read_text() for page in pages] == ["for bo-b"]
        assert pages[0] == folder / "homes" / "bo-b" / "lessons" / "hw1-feedback.html"
    room.writing._remove(folder / "course")


def test_who_lost_a_password_or_comes_late_gets_one_and_the_others_keep_theirs(tmp_path):
    first, accounts = new_accounts(["teacher", "anna", "bo"])
    hub = Hub(("anna", "bo"))
    hub.save(tmp_path, accounts)
    (tmp_path / "passwords.csv").write_text("name,password\nbo,old\n")
    drawn = draw_passwords(tmp_path, ["anna", "chen"])
    found, kept = read_hub(tmp_path)
    assert found.students == ("anna", "bo", "chen") and set(drawn) == {"anna", "chen"}
    assert [right_password(kept, name, word)
            for name, word in [*drawn.items(), ("bo", first["bo"]),
                               ("anna", first["anna"])]] == [True] * 3 + [False]
    assert (tmp_path / "passwords.csv").read_text().splitlines() == ["name,password", "bo,old",
                                                                     *map(",".join, drawn.items())]
    assert all((tmp_path / name).stat().st_mode & 0o077 == 0
               for name in ("hub.json", "passwords.csv"))
    before = (tmp_path / "hub.json").read_bytes()
    for wrong in (["Dora"], [], ["dora", "dora"]):
        with pytest.raises(ValueError):
            draw_passwords(tmp_path, wrong)
    assert (tmp_path / "hub.json").read_bytes() == before
    (tmp_path / "hub.json").write_text(before.decode().replace('"chen"\n', '"chen", "eve"\n'))
    assert without_password(tmp_path) == ["eve"]
    assert list(draw_passwords(tmp_path, ["eve"])) == ["eve"] and without_password(tmp_path) == []


def test_the_image_is_made_of_pins_alone_from_anywhere_and_small_where_there_is_no_card(written):
    lines = (written[0] / "requirements.txt").read_text("utf-8").splitlines()
    assert all("==" in line for line in lines)
    assert any(line.startswith("jupyterhub==") for line in lines)
    assert not any(line.startswith(("dockerspawner", "jupyterhub-idle-culler")) for line in lines)
    image, page = ((written[0] / name).read_text("utf-8") for name in ("Dockerfile", "README.md"))
    assert "USER student" in image
    assert f"docker build -t embeddings-measured {written[0]}\n" in page
    assert "--build-arg PIP_EXTRA_INDEX_URL=" in page and "`start` refuses root" in page
    needed = {word for line in image.splitlines() if line.startswith("COPY")
              for word in line.split()[1:-1]}
    ignored = (written[0] / ".dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in ignored[1:]} == needed, "no password goes to a builder"
    assert image.index("\nARG PIP_EXTRA_INDEX_URL\n") < image.index("RUN pip install")


def test_a_hub_is_never_written_over_and_nothing_is_left_of_one_that_failed(
        written, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="exists; expected a new one"):
        write_hub(Hub(("anna",)), written[0])
    monkeypatch.setattr(room.writing, "extra_lock", lambda *_:
                        (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_hub(Hub(("anna",)), tmp_path / "class")
    assert list(tmp_path.iterdir()) == []


def test_names_come_one_by_one_or_from_a_file(tmp_path):
    file = tmp_path / "names.txt"
    file.write_text("\ufeffanna\n bo\r\n\nmary ann\n", "utf-8")
    # a name in two words is one, for Hub to refuse
    assert names_from([str(file), "chen"]) == ("anna", "bo", "mary ann", "chen")
    for content, name, error, words in (
            (b"", "names.txt", ValueError, "empty file"),
            ("anna\nmüller\n".encode("latin-1"), "names.txt", ValueError,
             r"names\.txt, line 2, byte 6: fc is not UTF-8 .*save the file as UTF-8"),
            (b"anna", "name.txt", FileNotFoundError,
             r"name\.txt does not exist; nearest name: .*names\.txt")):
        file.write_bytes(content)
        with pytest.raises(error, match=words):
            names_from([str(tmp_path / name)])


def test_a_hub_does_not_start_without_its_parts_or_with_all_rights(written, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(room.writing.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(BackendUnavailable, match="pip install -c lessons_lib/locks/hub_py"):
            start_command(written[0])
    assert (PROJECT / "lessons_lib" / "locks" / "hub_py311.txt").exists()
    monkeypatch.setattr(room.writing, "hub_missing", lambda: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(PermissionError, match="as an ordinary user"):
        start_command(written[0])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert start_command(written[0])[1:4] == ["-m", "jupyterhub", "-f"]
