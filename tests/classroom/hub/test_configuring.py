"""JupyterHub's configuration: each promise of the page beside it is a setting that exists."""

from __future__ import annotations

import importlib.util
import json
import sys

import pytest
from traitlets.config import Config

from lessons_lib.classroom.hub import SPAWNERS, configure
from lessons_lib.classroom.hub import configuring as room


def configured(folder, monkeypatch, **changes):
    """The configuration of the written hub, with some settings changed."""
    monkeypatch.setattr(room, "installed", lambda name: folder)
    read = room.read_hub(folder)
    monkeypatch.setattr(room, "read_hub", lambda place:
                        (room.Hub(**vars(read[0]) | changes), read[1]))
    c = Config()
    configure(c, folder)
    return c


def test_only_listed_names_come_in_and_the_teacher_looks_after_them(written, monkeypatch):
    c = configured(written[0], monkeypatch)
    assert c.Authenticator.allowed_users == {"anna", "bo", "teacher"}
    assert c.Authenticator.admin_users == {"teacher"}
    assert set(c.ClassAuthenticator.accounts) == {"anna", "bo", "teacher"}
    assert "allow_all" not in c.Authenticator
    assert c.JupyterHub.bind_url == "http://127.0.0.1:8123/" and c.JupyterHub.hub_ip == "127.0.0.1"
    assert (c.ConfigurableHTTPProxy.api_url, c.JupyterHub.hub_port) == (
        "http://127.0.0.1:8124", 8125), "two hubs on one machine do not meet"


def test_limits_of_memory_and_time_are_set_and_the_idle_are_stopped(written, monkeypatch):
    c = configured(written[0], monkeypatch)
    assert c.Spawner.mem_limit == 1_500_000_000 and c.Spawner.cpu_limit == 1
    assert "--MappingKernelManager.cull_idle_timeout=1200" in c.Spawner.args
    (service,), (role,) = c.JupyterHub.services, c.JupyterHub.load_roles
    assert {"--timeout=1200", "--max-age=10800", "--cull-every=120"} < set(service["command"])
    assert role["services"] == [service["name"]]
    assert "--allow-root" not in c.Spawner.args
    assert not any("token" in a.lower() for a in c.Spawner.args)


@pytest.mark.parametrize(("cores", "threads"), [(0.5, "1"), (1.9, "1"), (2, "2"), (8, "2")])
def test_a_lesson_takes_no_more_threads_than_a_student_has_cores(written, monkeypatch, cores,
                                                                 threads):
    environment = configured(written[0], monkeypatch, cores=cores).Spawner.environment
    assert environment["LESSONS_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == threads


def test_a_server_of_this_machine_limits_itself_and_reads_the_shared_course(
        written, monkeypatch, tmp_path):
    c = configured(written[0], monkeypatch, models=str(tmp_path), data=str(tmp_path))
    environment = c.Spawner.environment
    assert c.Spawner.cmd == [sys.executable, "-m", "lessons_lib.classroom.hub.server"]
    assert environment["PYTHONPATH"] == environment["LESSONS_COURSE"] == str(written[0] / "course")
    assert environment["LESSONS_HUB_MEMORY"] == "1500000000"
    assert environment["OMP_NUM_THREADS"] == environment["LESSONS_THREADS"] == "1"
    assert environment["HF_HUB_CACHE"] == environment["LESSONS_DATA"] == str(tmp_path)
    assert environment["HF_HUB_OFFLINE"] == "1"


def test_a_container_has_its_own_files_and_reads_what_is_shared(written, monkeypatch, tmp_path):
    c = configured(written[0], monkeypatch, spawner="docker", models=str(tmp_path))
    assert c.DockerSpawner.volumes == {"embeddings-{username}": "/home/student"}
    assert c.DockerSpawner.read_only_volumes == {str(tmp_path): "/srv/models"}
    assert c.JupyterHub.hub_ip == "172.17.0.1"
    assert c.Spawner.environment["HF_HUB_CACHE"] == "/srv/models"
    assert "LESSONS_DATA" not in c.Spawner.environment
    assert c.DockerSpawner.extra_host_config["cap_drop"] == ["ALL"]
    assert not any(
        str(written[0]) in value
        for value in c.Spawner.environment.values()), "a path of the host means nothing inside"


@pytest.mark.skipif(importlib.util.find_spec("dockerspawner") is None,
                    reason="the extra set hub is not installed")
def test_every_setting_is_one_that_the_spawners_have(written, monkeypatch):
    """JupyterHub only warns of a name it does not know, and goes on without the limit."""
    from dockerspawner import DockerSpawner
    from jupyterhub.app import JupyterHub
    from jupyterhub.proxy import ConfigurableHTTPProxy
    from jupyterhub.spawner import SimpleLocalProcessSpawner

    from lessons_lib.classroom.hub.authenticator import ClassAuthenticator

    kinds = {"JupyterHub": JupyterHub, "DockerSpawner": DockerSpawner, "Spawner": DockerSpawner,
             "Authenticator": ClassAuthenticator, "ClassAuthenticator": ClassAuthenticator,
             "SimpleLocalProcessSpawner": SimpleLocalProcessSpawner,
             "ConfigurableHTTPProxy": ConfigurableHTTPProxy}
    for spawner in SPAWNERS:
        for name, settings in configured(written[0], monkeypatch, spawner=spawner).items():
            assert set(settings) <= set(kinds[name].class_traits(config=True)), name


@pytest.mark.skipif(importlib.util.find_spec("jupyterhub") is None, reason="the extra set hub is "
                                                                           "not installed")
def test_the_right_password_opens_and_another_does_not(written):
    import asyncio

    from lessons_lib.classroom.hub.authenticator import ClassAuthenticator

    folder, passwords = written
    door = ClassAuthenticator(accounts=json.loads((folder /
                                                   "hub.json").read_text("utf-8"))["accounts"])
    tries = [("anna", passwords["anna"]), ("Anna", passwords["anna"]), ("anna", passwords["bo"]),
             ("eve", passwords["bo"]), ("anna", "")]
    assert [asyncio.run(door.authenticate(None, {"username": name, "password": word}))
            for name, word in tries] == ["anna", "anna", None, None, None]
