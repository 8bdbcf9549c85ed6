"""Settings of a hub: a mistake is told by name before anything is written."""

from __future__ import annotations

import json
import os

import pytest

from lessons_lib.classroom.hub import Hub, draw_passwords, read_hub, write_hub
from lessons_lib.core import DamagedFile


@pytest.mark.parametrize("wrong, message", [
    ({"students": ("Anna",)}, "students holds 'Anna'; expected a lower-case letter"),
    ({"students": ("../root",)}, "students holds '../root'"),
    ({"students": ("anna", "anna")}, "twice: anna; expected each once"),
    ({"students": ("teacher",)}, "twice: teacher"),
    ({"students": ()}, "students is empty; expected >= 1"),
    ({"spawner": "dokker"}, "Did you mean 'docker'"), ({"scale": "big"}, "scale='big'"),
    ({"memory_gb": 0.1}, "memory_gb=0.1"), ({"port": 70000}, "port=70000"),
    ({"hours": float("nan")}, "hours"),
    ({"host": "0.0.0.0"},
     "host='0.0.0.0' can be reached by other machines.*pass certificate and key"),
    ({"key": "key.pem"}, "belong together"),
])
def test_a_mistake_names_the_argument_and_what_is_allowed(wrong, message):
    with pytest.raises(ValueError, match=message):
        Hub(**{"students": ("anna",)} | wrong)


def test_a_shared_folder_has_to_exist_and_is_found_again_from_the_folder_of_the_hub(
        tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Hub(("anna",), models="nowhere")
    for name in ("models", "class"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    Hub(("anna",), models="models").save(tmp_path / "class", {})
    monkeypatch.chdir("class")
    assert read_hub(".")[0].models == os.path.abspath("../models")


def test_others_are_let_in_by_https_alone(tmp_path):
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).touch()
    hub = Hub(("anna",), host="0.0.0.0", port=443, certificate=str(tmp_path / "cert.pem"),
              key=str(tmp_path / "key.pem"))
    assert hub.address == "https://0.0.0.0:443/"
    assert Hub(("anna",), host="::1").address == "http://[::1]:8000/"


def test_settings_come_back_as_saved_only_their_owner_reads_them_and_nonsense_is_refused(tmp_path):
    hub = Hub(("anna", "bo"), memory_gb=3, scale="smoke")
    path = hub.save(tmp_path, {"anna": {"salt": "00", "hash": "11"}})
    assert read_hub(tmp_path) == (hub, {"anna": {"salt": "00", "hash": "11"}})
    assert path.stat().st_mode & 0o077 == 0
    path.write_text(json.dumps(json.loads(path.read_text()) | {"spawner": "sudo"}))
    with pytest.raises(ValueError, match="spawner='sudo'"):
        read_hub(tmp_path)


@pytest.mark.parametrize("content", [
    "[]", '{"students": ["anna"]}', '{"students": ["anna"], "accounts": {}, "root": true}',
    "no json",
])
def test_a_damaged_file_is_said_to_be_one(tmp_path, content):
    (tmp_path / "hub.json").write_text(content)
    with pytest.raises(DamagedFile, match=r"hub\.json"):
        read_hub(tmp_path)


@pytest.mark.parametrize("name", ["root", "daemon", "admin", "www-data", "nobody", "jupyterhub"])
def test_names_of_the_system_are_refused_in_a_new_hub_and_for_who_comes_late(tmp_path, name):
    with pytest.raises(ValueError, match=rf"'{name}'.* of the system; .*such as {name}-1"):
        write_hub(Hub(("ada", name)), tmp_path / "hub")
    with pytest.raises(ValueError, match="of the system"):
        write_hub(Hub(("ada",), teacher=name), tmp_path / "hub")
    assert not list(tmp_path.iterdir())
    Hub(("ada", name)).save(tmp_path, {})                       # one of before can still be read
    assert read_hub(tmp_path)[0].students == ("ada", name)
    with pytest.raises(ValueError, match="of the system"):
        draw_passwords(tmp_path, ["ada", "root" if name != "root" else "bin"])


@pytest.mark.parametrize("setting", ["data", "models"])
def test_a_shared_folder_that_is_not_there_or_is_a_file_is_named(tmp_path, setting):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError, match=f"{setting}=.*does not exist"):
        Hub(("ada",), **{setting: str(tmp_path / "nope")})
    with pytest.raises(ValueError, match=f"{setting}=.*expected a folder"):
        Hub(("ada",), **{setting: str(tmp_path / "file")})
