"""From the settings of a hub to JupyterHub's own: who may come in, what each server may use, when
it is stopped.

JupyterHub runs ``jupyterhub_config.py``, which calls `configure`; lines after the call change
whatever a school wants to have otherwise.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from ...lesson.threads import THREADS, thread_environment
from ...npm import installed
from .settings import Hub, read_hub

__all__ = ["COURSE", "configure", "environment_of"]

BRIDGE = "172.17.0.1"                             # this machine, as seen from a container of Docker
COURSE = "course"  # in the folder of the hub: what everybody reads and nobody writes
# places in a container
INSIDE = {"course": "/srv/course", "home": "/home/student", "data": "/srv/data",
          "models": "/srv/models"}
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1",
           "DO_NOT_TRACK": "1"}
FIRST = "/lab/tree/lessons/00_start_here.ipynb"
SECONDS_TO_START = 120                            # a busy machine imports JupyterLab for this long


def environment_of(hub: Hub, course: str, *, data: str | None,
                   models: str | None) -> dict[str, str]:
    """The variables of a student's server: where things lie, and how much may be used."""
    shared = {"LESSONS_DATA": data} if data else {}
    shared |= {"HF_HUB_CACHE": models} if models else {}
    own = {"PYTHONPATH": course, "LESSONS_COURSE": course, "LESSONS_NO_VENV": "1",
           "LESSONS_SCALE": hub.scale, "OMP_WAIT_POLICY": "PASSIVE"}
    threads = max(1, min(THREADS, int(hub.cores)))  # two on one core would wait for each other
    return thread_environment(threads) | {"LESSONS_THREADS": str(threads)} | OFFLINE | shared | own


def configure(c: Any, folder: str | os.PathLike) -> None:
    """Set JupyterHub's configuration ``c`` as the folder of a hub says.

    Raises as `read_hub`, and BackendUnavailable without the proxy.
    """
    place = Path(folder).resolve()
    hub, accounts = read_hub(place)
    c.JupyterHub.bind_url = hub.address
    if hub.certificate:
        c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key = hub.certificate, hub.key
    c.JupyterHub.hub_ip = "127.0.0.1"
    # JupyterHub's own defaults are fixed, and a second hub on this machine would meet the first
    c.JupyterHub.hub_port = hub.port + 2
    c.JupyterHub.db_url = f"sqlite:///{place / 'hub.sqlite'}"
    c.JupyterHub.cookie_secret_file = str(place / "cookie_secret")
    c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{hub.port + 1}"
    c.ConfigurableHTTPProxy.pid_file = str(place / "proxy.pid")
    c.ConfigurableHTTPProxy.command = [str(installed("hub") / ".bin" / "configurable-http-proxy")]

    c.JupyterHub.authenticator_class = "lessons_lib.classroom.hub.authenticator.ClassAuthenticator"
    c.ClassAuthenticator.accounts = accounts
    c.Authenticator.allowed_users = set(hub.students) | {hub.teacher}
    c.Authenticator.admin_users = {hub.teacher}

    seconds = 60 * hub.idle_minutes
    c.Spawner.default_url = FIRST
    c.Spawner.mem_limit = int(hub.memory_gb * 1e9)
    c.Spawner.cpu_limit = hub.cores
    c.Spawner.start_timeout = c.Spawner.http_timeout = SECONDS_TO_START
    # A kernel that idles goes before its server does, so that lessons left open keep no memory.
    c.Spawner.args = [f"--MappingKernelManager.cull_idle_timeout={seconds}",
                      "--MappingKernelManager.cull_connected=True",
                      "--LabApp.extension_manager=readonly",
                      "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command = [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={seconds}",
               f"--max-age={int(3600 * hub.hours)}", f"--cull-every={max(10, seconds // 10)}"]
    c.JupyterHub.services = [{"name": "cull-idle", "command": command}]
    c.JupyterHub.load_roles = [{"name": "cull-idle", "services": ["cull-idle"],
                                "scopes": ["list:users", "read:users:activity", "read:servers",
                                           "delete:servers"]}]
    {"simple": _simple, "docker": _docker}[hub.spawner](c, hub, place)


def _simple(c: Any, hub: Hub, place: Path) -> None:
    """Processes of one user of this machine, which keep their limits themselves: to try it out."""
    c.JupyterHub.spawner_class = "simple"
    c.SimpleLocalProcessSpawner.home_dir_template = str(place / "homes" / "{username}")
    c.Spawner.cmd = [sys.executable, "-m", "lessons_lib.classroom.hub.server"]
    limits = {"LESSONS_HUB_MEMORY": str(int(hub.memory_gb * 1e9)),
              "LESSONS_HUB_FILE": str(int(hub.disk_gb * 1e9))}
    c.Spawner.environment = environment_of(hub, str(place / COURSE), data=hub.data,
                                           models=hub.models) | limits


def _docker(c: Any, hub: Hub, place: Path) -> None:
    """A container for each student: own files, and limits that the system's kernel keeps."""
    c.JupyterHub.spawner_class = "docker"
    # containers reach the hub over Docker's own network, and nobody else does
    c.JupyterHub.hub_ip = BRIDGE
    c.DockerSpawner.image = "embeddings-measured"
    c.DockerSpawner.remove = True
    c.DockerSpawner.notebook_dir = INSIDE["home"]
    c.DockerSpawner.volumes = {"embeddings-{username}": INSIDE["home"]}
    shared = {"data": hub.data, "models": hub.models}
    c.DockerSpawner.read_only_volumes = {path: INSIDE[name]
                                         for name, path in shared.items() if path}
    c.DockerSpawner.extra_host_config = {"cap_drop": ["ALL"], "security_opt": ["no-new-privileges"],
                                         "pids_limit": 512}
    c.Spawner.cmd = ["python", "-m", "lessons_lib.classroom.hub.server"]
    inside = {name: INSIDE[name] if path else None for name, path in shared.items()}
    c.Spawner.environment = environment_of(hub, INSIDE["course"], data=inside["data"],
                                           models=inside["models"])
