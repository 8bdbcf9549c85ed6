"""``lessons …``: list, run, test, read and build the lessons, look after data, encode texts,
evaluate encoders, search a folder, teach a class.

Each command is a thin layer over a room of the library. Errors that are the caller's come out as
one line without a traceback.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Annotated, Any

import typer

from ..core import (
    PROJECT,
    BackendUnavailable,
    DataMissing,
    DownloadFailed,
    ProgramFailed,
    TrainingDiverged,
)
from .classroom import assign, grade, guide
from .count import count
from .data import data_app
from .encoding import encode, evaluate
from .export import export
from .hub import hub_app
from .learning import cards, progress
from .options import argument, option
from .play import map_texts, neighbours, similar
from .pretrain import pretrain
from .reproducing import reproduce
from .running import build, run
from .search import search
from .show import plain, show_board, show_table
from .train import train_app
from .training import Stopped
from .web import lab, site, slides

app = typer.Typer(
    help="Embeddings, measured: a course on text embeddings, and the library under it.",
    no_args_is_help=True, pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]})
app.add_typer(data_app, name="data")
app.add_typer(train_app, name="train")
app.add_typer(hub_app, name="hub")

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.command("list")
def list_lessons() -> None:
    """List the lessons: the question each answers, its minutes, what it needs."""
    from ..lesson.course import Course

    rows = [[card.stem, card.question, card.minutes.get("read", ""),
             ", ".join(card.needs) or "nothing"] for card in Course().cards()]
    show_table("Lessons", ["lesson", "question", "minutes", "needs"], rows, right=("minutes",))


app.command(context_settings=PASS_ON,
            options_metavar="[LESSON or NOTEBOOK.ipynb] [JUPYTERLAB OPTIONS]")(lab)


@app.command(context_settings=PASS_ON, options_metavar="[--all] [PYTEST OPTIONS]")
def test(
    context: typer.Context,
    everything: Annotated[bool, option("the slow tests too: all lessons, browser, processes; 200 "
                                       "examples of each property, not 10", "--all")] = False,
) -> None:
    """Run the tests on all cores, the quick ones unless ``--all`` is given; further arguments go to
    pytest.
    """
    alone = any(option.startswith("-n") or option in ("--pdb", "-x") for option in context.args)
    parallel = [] if alone else ["-n", "auto", "--dist", "worksteal"]
    if not everything:
        print("The quick tests; `lessons test --all` runs the slow ones, too.", flush=True)
    command = [sys.executable, "-m", "pytest", *parallel, *["--all"] * everything, *context.args]
    raise typer.Exit(subprocess.call(command, cwd=PROJECT))


app.command()(run)
app.command()(build)


@app.command()
def lock() -> None:
    """Make the lock files from environment.yml (for maintainers; needs uv and the network)."""
    from ..locking import make_locks

    for path in make_locks():
        print(path.relative_to(PROJECT).as_posix())


@app.command()
def house(
    write: Annotated[bool, option("into CONTRIBUTING.md", "--write")] = False,
    of: Annotated[str,
                  option("instead, the files that a module needs, such as words.word2vec")] = "",
) -> None:
    """Draw the rooms of the library as their imports make them (for those who change it)."""
    from ..house import closure, drawing, write_drawing

    if of:
        needed = closure(of)
        for file in needed.files:
            print(file.relative_to(PROJECT).as_posix())
        print(f"{len(needed.files)} files, {needed.lines:,} lines")
    elif write:
        print(write_drawing(PROJECT / "CONTRIBUTING.md").relative_to(PROJECT).as_posix())
    else:
        print(drawing())


@app.command()
def doctor() -> None:
    """Say what this machine has, what is missing, and the command that gets it."""
    from ..diagnosis import findings

    result = findings()
    marks = {"ok": "has", "note": "note", "missing": "MISSING"}
    show_table("This machine", ["", "what", "finding", "what to do"],
               [[marks[f.state], f.what, f.text, f.remedy] for f in result])
    if any(f.state == "missing" for f in result):
        raise typer.Exit(1)


for command in (assign, grade, guide, count, encode, evaluate, export, pretrain, reproduce, search,
                cards, progress, site, slides, neighbours, similar):
    app.command()(command)
app.command("map")(map_texts)


@app.command()
def npm(
    sets: Annotated[list[str] | None, argument("hub, axe; default: both")] = None,
) -> None:
    """Install what comes from npm, as locked: the proxy of the hub, and the accessibility rules of
    the tests in a browser.
    """
    from ..npm import SETS, install

    for name in sets or SETS:
        print(f"{name}: {install(name)}")


@app.command()
def bench(
    groups: Annotated[list[str] | None, argument("groups of cases; default: all")] = None,
    repeats: Annotated[int, option("runs of each side")] = 3,
    keep: Annotated[bool, option("write the rows into data/benchmarks/", "--keep")] = False,
    only: Annotated[str, option("a part of the names of the cases to run, such as info_nce")] = "",
) -> None:
    """Race our code against its peers, in turn, where the results are equal; and measure peak
    memory. Kernels are set against their floor too.

    The group kernels takes the GPU along where there is one; blocks-gpu, which tries block sizes,
    runs when it is named. A case whose results differ from the peer's gets no figure, and the
    command ends with 1.
    """
    from .. import bench as benchmarks

    rows = []
    for row in benchmarks.run(groups or None, repeats=repeats, only=only,
                              tell=lambda text: print(text, file=sys.stderr, flush=True)):
        rows.append(row)
        if keep:                                    # at once: a run of half an hour may be cut off
            benchmarks.write_by_kind([row], whole=False)
    for group in dict.fromkeys(row.group for row in rows):
        _show_races(group, [row for row in rows if row.group == group])
    if keep and rows:
        for path in benchmarks.write_by_kind(rows, whole=not only):
            print(path.relative_to(PROJECT).as_posix())
    if any(row.met is False and row.value is None for row in rows):
        raise typer.Exit(1)


def _show_races(group: str, rows: list[Any]) -> None:
    """One group of the benchmarks; a column that no row fills is left out."""
    def pair(ours: float | None, theirs: float | None, form: str) -> str:
        return " / ".join(format(value, form) for value in (ours, theirs) if value is not None)

    columns = ["case", "beside", "measured", "goal", "met", "seconds, ours / peer", "of floor",
               "extra MB, ours / peer", "scores, ours | peer", "remark"]
    cells = [[row.name, row.peer,
              "" if row.value is None else f"{row.value:g} {row.value_unit}", row.goal,
              {True: "yes", False: "NO", None: ""}[row.met],
              pair(row.ours_seconds, row.peer_seconds, ".3g"),
              "" if row.of_floor is None else f"{row.of_floor:.0%}",
              pair(row.extra_mb, row.peer_extra_mb, ".0f"),
              " | ".join(filter(None, (row.quality, row.peer_quality))), row.note or row.config]
             for row in rows]
    filled = [i for i in range(len(columns)) if any(line[i] for line in cells)]
    show_table(f"Benchmarks: {group}", [columns[i] for i in filled],
               [[line[i] for i in filled] for line in cells])


@app.command()
def leaderboard(
    reset: Annotated[bool, option("forget your rows", "--reset")] = False,
    reference: Annotated[bool, option("the rows committed with the course", "--reference")] = False,
) -> None:
    """Show your leaderboard, or the course's own."""
    from ..evaluation import Leaderboard
    from ..lesson.board import user_board

    if reset and reference:
        raise ValueError("--reset with --reference: the course's own rows are written by `lessons "
                         "build`; only your rows can be reset")
    board = Leaderboard.reference() if reference else user_board()
    if reset:
        board.reset()
    show_board(board)


def main() -> int:
    """Run one command; a caller's mistake ends as one line on standard error and status 2."""
    if hasattr(sys.stdout, "reconfigure"):       # a console need not have every letter of a text
        sys.stdout.reconfigure(errors="backslashreplace")
    # a shell completes what is typed first: `lessons`, also where Python was asked to install it
    completion = {"--install-completion", "--show-completion"} & set(sys.argv[1:2])
    try:
        code = app(standalone_mode=False, prog_name="lessons" if completion else None)
        sys.stdout.flush()
    except BrokenPipeError:                      # who reads has seen enough: `lessons … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141                               # as the shell says of other programs
    except (ValueError, TypeError, DataMissing, DownloadFailed, BackendUnavailable, ProgramFailed,
            TrainingDiverged, MemoryError, OSError) as error:
        print(plain(f"lessons: {error}", line=False), file=sys.stderr)
        return 2
    except Stopped as stop:
        print(f"lessons: {stop}", file=sys.stderr)
        return 130
    except typer.Abort:
        return 130
    except KeyboardInterrupt:
        print("lessons: stopped", file=sys.stderr)
        return 130
    except Exception as error:
        # a usage error of the argument parser, which typer does not export
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            error.show()
            return error.exit_code
        raise
    return code if isinstance(code, int) else 0
