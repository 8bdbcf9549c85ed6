"""``lessons hub``: a JupyterHub for a class, from its settings to the machine it needs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..bootstrap import hand_over
from .options import argument, option, unset
from .show import show_table
from .web import find_library

__all__ = ["hub_app"]

hub_app = typer.Typer(help="A hub for a class: write its folder, start it, know what machine it "
                           "needs.", no_args_is_help=True)


Folder = Annotated[Path, argument("made by `python -m lessons_lib hub write`")]


@hub_app.command()
def write(
    folder: Annotated[Path, argument("a new folder")],
    students: Annotated[list[str], argument("names, or a text file with one name a line")], *,
    teacher: Annotated[str, option("who sees and stops servers")] = "teacher",
    spawner: Annotated[
        str, option("simple (processes of this machine, to try it out) or docker")] = "simple",
    host: Annotated[str, option("where it listens")] = "127.0.0.1",
    port: Annotated[int, typer.Option()] = 8000,
    certificate: Annotated[str | None, unset("for HTTPS, a file")] = None,
    key: Annotated[str | None, unset("of the certificate, a file")] = None,
    memory: Annotated[float | None, unset("GB for each student; default: as measured")] = None,
    cores: Annotated[float, option("for each student")] = 1.0,
    idle: Annotated[int, option("minutes without work, after which a server is stopped")] = 30,
    hours: Annotated[float, option("after which any server is stopped")] = 8.0,
    scale: Annotated[str, option("of the lessons: smoke, laptop or paper")] = "laptop",
    data: Annotated[str | None, unset("a folder for LESSONS_DATA, shared, read only")] = None,
    models: Annotated[str | None, unset("a cache of Hugging Face, shared, read only")] = None,
) -> None:
    """Make the folder of a hub: settings, a password for each student, the course, and what Docker
    and Kubernetes need.
    """
    from ..classroom.hub import Hub, hub_missing, measured, names_from, room_for, write_hub

    names = names_from(students)
    limit = room_for(max(1, len(names)), measured()).limit_gb if memory is None else memory
    hub = Hub(names, teacher=teacher, spawner=spawner, host=host, port=port,
              certificate=certificate, key=key, memory_gb=limit, cores=cores, idle_minutes=idle,
              hours=hours, scale=scale, data=data, models=models)
    write_hub(hub, folder)
    print(f"{folder}: a hub for {len(names)} students. Read {folder / 'README.md'} and hand out "
          f"{folder / 'passwords.csv'}, then: python -m lessons_lib hub start {folder}")
    if reason := hub_missing():
        print(f"before that: {reason}")


@hub_app.command()
def password(
    folder: Folder,
    names: Annotated[list[str], argument("students, or a text file with one name a line")],
) -> None:
    """Draw new passwords: for who lost one, and for who comes late."""
    from ..classroom.hub import draw_passwords, names_from

    rows = [[name, word] for name, word in draw_passwords(folder, names_from(names)).items()]
    show_table("Passwords", ["name", "password"], rows)
    print(f"They are in {folder / 'passwords.csv'}, too. The hub takes them when it starts again.")


@hub_app.command()
def update(folder: Folder) -> None:
    """Bring the course of a hub up to this one; settings, homes and what was handed out stay."""
    from ..classroom.hub import update_course

    update_course(folder)
    print(f"{folder / 'course'} is up to date. Students keep their copies; new lessons come when "
          "their servers start.")


@hub_app.command()
def start(folder: Folder) -> None:
    """Start a hub on this machine; Ctrl-C stops it and all its servers."""
    from ..classroom.hub import read_hub, start_command, without_password

    command = start_command(folder)
    if shut_out := without_password(folder):
        print(f"no password, so nobody logs in as {', '.join(shut_out)}: python -m lessons_lib hub "
              f"password {folder} {' '.join(shut_out)}", file=sys.stderr)
    print(f"The hub opens at {read_hub(folder)[0].address}")
    find_library()
    os.chdir(folder)
    raise typer.Exit(hand_over(command))


@hub_app.command()
def size(students: Annotated[int, option("how many")] = 30) -> None:
    """Say what machine a class needs, from the committed measurement of one student's server."""
    from ..classroom.hub import measured, room_for, rule_of
    from ..core import check_int

    server = measured()
    machine = room_for(check_int("students", students), server)
    rows = [["the server alone", f"{server.server_mb:,.0f}", ""]]
    rows += [[f"and {lesson}, run whole", f"{after:,.0f}", f"{peak:,.0f}"]
             for lesson, after, peak in server.in_order()]
    columns = ["open", "MB after", "MB at most"]
    show_table(f"One student, {server.scale} scale ({server.date}, "
               f"{server.system.replace(' 1 cores', ' 1 core')})", columns, rows, right=columns[1:])
    print(f"{_counted(students, 'student')}: {_counted(machine.cores, 'core')}, and "
          f"{machine.memory_gb:g} GB of memory if all of these stay open, {machine.one_gb:g} GB "
          f"with one lesson at a time; a limit of {machine.limit_gb:g} GB for each student")
    print(*rule_of(students, server), sep="\n")


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}{'' if n == 1 else 's'}"


@hub_app.command()
def measure(
    scale: Annotated[str, option("smoke, laptop or paper")] = "laptop",
    keep: Annotated[bool, option("write it into data/benchmarks/", "--keep")] = False,
) -> None:
    """Measure one student's server with two large lessons open (minutes at laptop scale)."""
    from ..classroom import hub

    server = hub.measure(scale=scale, on_step=lambda text: print(text, file=sys.stderr, flush=True))
    print(f"{server.together_mb:,.0f} MB with all open, {max(server.peak_mb.values()):,.0f} MB at "
          "most")
    if keep:
        print(hub.write_measured(server).name)
