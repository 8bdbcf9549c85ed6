"""``lessons data``: which datasets there are and where, how to get the rest, and what is whole."""

from __future__ import annotations

import errno
import sys
import warnings
from typing import Annotated

import typer

from ..core import BackendUnavailable, DamagedFile, DataWarning
from .options import argument, option
from .show import show_table

data_app = typer.Typer(help="Datasets: what is here, how to get the rest, whether it is whole.",
                       no_args_is_help=True)
COLUMNS = ["dataset", "state", "from", "remark"]
Names = Annotated[list[str] | None, argument("datasets, see: lessons data list")]


@data_app.command("list")
def data_list(
    addresses: Annotated[bool, option("instead, where each can be fetched from, as Markdown",
                                      "--addresses")] = False,
) -> None:
    """List every dataset: where it was found, whether it can be fetched, its size and licence."""
    from ..datasets import list_datasets, publishers_table, registered

    if addresses:
        print(publishers_table(), end="")
        return
    rows = []
    for row in list_datasets():
        parts = f" ({', '.join(row.here)})" if row.here and row.here != ("all",) else ""
        comes_along = row.found == "project" or row.found.startswith("gensim")
        get = "yes" if row.fetchable else "comes along" if comes_along else "no"
        get = "pip install" if registered(row.name).package else get
        rows.append([row.name, row.kind, row.found + parts or "not here", get,
                     f"{row.bytes / 1e6:.2f}" if row.bytes else "?", row.licence])
    show_table("Datasets", ["name", "kind", "found in", "get", "MB", "licence"], rows,
               right=("MB",))


@data_app.command("get")
def data_get(
    names: Names = None,
    everything: Annotated[bool, option("every dataset that is not here yet", "--all")] = False,
    source: Annotated[str | None, option("https address or folder with our layout, or a folder "
                                         "with the publisher's own files", "--from")] = None,
) -> None:
    """Bring datasets into the cache from where they are published, each proved by the checksums
    of its rows.

    What was cut goes on where it stopped. Where a dataset fails, the others still come; the table
    at the end says what came, from where, and what failed and why.
    """
    from ..datasets import list_datasets, registered

    if bool(names) == everything:
        raise ValueError(f"names={names or 'none'} with{'' if everything else 'out'} --all; "
                         "expected either")
    rows = {row.name: row for row in list_datasets()}
    wanted = list(rows) if everything else [registered(name).name for name in names]
    outcomes, failed = [], 0
    for name in wanted:
        whole = (("all",), registered(name).splits)
        if everything and rows[name].found and rows[name].here in whole:
            outcomes.append([name, "here", rows[name].found, ""])
            continue
        try:
            outcomes.extend(_get_one(name, source))
        except (OSError, DamagedFile, BackendUnavailable) as error:
            if len(wanted) == 1 or getattr(error, "errno", None) in (errno.ENOSPC, errno.EROFS):
                if outcomes:  # no disk, no other set either; say what came before
                    show_table("Got", COLUMNS, outcomes)
                raise
            failed += 1
            outcomes.append([name, "FAILED", "", " ".join(str(error).split())])
    if len(wanted) > 1:
        show_table("Got", COLUMNS, outcomes)
    if failed:
        raise typer.Exit(1)


def _get_one(name: str, source: str | None) -> list[list[str]]:
    """Get one dataset with a bar on a terminal; a row for each place that its files came from."""
    from tqdm import tqdm

    from ..datasets import get, notice, receipt_of

    def on_bytes(path: str, so_far: int, in_all: int) -> None:
        bar.set_postfix_str(path[-40:], refresh=False)
        bar.total, bar.n = in_all or None, so_far
        bar.refresh()

    quiet = not sys.stderr.isatty()
    with tqdm(unit="B", unit_scale=True, desc=name, disable=quiet) as bar, \
            warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the receipts below say the same, as remarks
        paths = get(name, source=source, on_bytes=on_bytes,
                    tell=lambda text: print(text, file=sys.stderr))
    print(f"{name}: {len(paths)} file{'s' if len(paths) != 1 else ''} ready")
    places: dict[tuple[str, str], None] = {}
    for path in paths:
        receipt = receipt_of(path)
        remark = notice(path.name, receipt) if receipt else ""
        if remark:
            print(remark)
        places[receipt.address if receipt else source or "here", remark] = None
    return [[name, "ready", address, remark] for address, remark in places]


@data_app.command("verify")
def data_verify(
    names: Names = None,
    rows: Annotated[bool, option("compare what the tables say, not their bytes", "--rows")] = False,
) -> None:
    """Compare the files of datasets with their registered checksums."""
    from ..datasets import verify

    states = verify(names or None, rows=rows)
    show_table("Files", ["dataset", "file", "found in", "state"],
               [[s.name, s.file, s.place, s.state] for s in states])
    if changed := [s for s in states if s.state == "changed"]:
        print(f"{len(changed)} changed: a damaged file in the cache is replaced by "
              "`lessons data get NAME`; one under LESSONS_DATA is yours")
        raise typer.Exit(1)
