"""Reads the formats in which publishers hand out their sets, as rows with our column names.

Each reader takes the fetched files of a publisher and one entry of ``data/publishers.toml`` that
says what stands where, and yields rows, a text by column. What a format says about *one* set
(labels, splits, cleaning) is in the entry, not here: `conversion` applies it. A file that is not
of the promised form is a DamagedFile that says line and file.
"""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO

from ..core import BackendUnavailable, DamagedFile, shown
from .archives import iterate_members, read_members

__all__ = ["READERS", "Files", "Row"]

Row = dict[str, str]
OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MAX_TEXT = 1 << 28  # what one file may hold after it is decompressed
MAX_LINES = 3_000_000
MAX_LINE = 1 << 20
MAX_HALF = 65_504  # the largest number of 16 bits, which vectors are kept in
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[\"'(]?[A-Z])")
PARQUET_REMEDY = "pip install 'lessons_lib[parquet]', or pip install pyarrow"


class Files:
    """The files of a publisher by name: each fetched by itself, or all in one archive."""

    def __init__(
        self, paths: Mapping[str, Path], archive: Path | None = None, members: tuple[str, ...] = ()
    ) -> None:
        self.paths, self.archive = paths, archive
        self.members = read_members(archive, members) if archive and members else {}

    def open(self, name: str) -> BinaryIO:
        """A file as a stream of bytes; what is compressed by its name is decompressed."""
        opener = OPENERS.get(Path(name).suffix)
        if name in self.members:
            raw = io.BytesIO(self.members[name])
            return opener(raw, "rb") if opener else raw
        return opener(self.paths[name], "rb") if opener else self.paths[name].open("rb")

    def text(self, name: str, encoding: str = "utf-8") -> str:
        """The whole text of a file. Raises DamagedFile (cut, not in the encoding, too large)."""
        with _whole(name), self.open(name) as stream:
            data = stream.read(MAX_TEXT + 1)
        if len(data) > MAX_TEXT:
            raise DamagedFile(f"{name} holds more than {MAX_TEXT:,} bytes; expected less")
        if data[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
            raise DamagedFile(f"{name} is an HTML page (of a login or a proxy?); expected data")
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            raise DamagedFile(
                f"{name}, byte {error.start}: {error.object[error.start]:#04x} is not {encoding}"
            ) from None
        return text.removeprefix("\ufeff").replace("\r\n", "\n")

    def lines(self, name: str, encoding: str = "utf-8") -> list[str]:
        """The lines of a file; only a line feed ends one."""
        text = self.text(name, encoding)
        if (count := text.count("\n")) > MAX_LINES:
            raise DamagedFile(f"{name} has {count:,} lines; expected at most {MAX_LINES:,}")
        lines = text.split("\n")
        return lines if lines[-1] else lines[:-1]


def _picked(cells: Mapping[str, Any], columns: Mapping[str, str], name: str, number: int) -> Row:
    """Our columns of one row of theirs."""
    if missing := [theirs for theirs in columns.values() if theirs not in cells]:
        raise DamagedFile(
            f"{name}, row {number}: no column {missing[0]!r}; found {shown(list(cells), 120)}"
        )
    return {
        ours: "" if cells[theirs] is None else str(cells[theirs])
        for ours, theirs in columns.items()
    }


def table(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """Rows of fields; ``columns`` by place, or ours = theirs where there is a header line."""
    (name,), columns = part["files"], part["columns"]
    delimiter, encoding = part.get("delimiter", "\t"), part.get("encoding", "utf-8")
    if part.get("quoted"):
        csv.field_size_limit(1 << 24)
        rows = csv.reader(io.StringIO(files.text(name, encoding), newline=""), delimiter=delimiter)
    else:
        rows = (line.split(delimiter) for line in files.lines(name, encoding))
    header = next(rows, []) if isinstance(columns, Mapping) else []
    for number, cells in enumerate(rows, start=1):
        if header:
            yield _picked(dict(zip(header, cells, strict=False)), columns, name, number)
        elif len(cells) < len(columns):
            raise DamagedFile(
                f"{name}, row {number}: {len(cells)} fields, {shown(cells)}; expected "
                f"{len(columns)}"
            )
        else:
            yield {ours: cell for ours, cell in zip(columns, cells, strict=False) if ours}


def json_lines(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """One JSON object per line; ``columns``: ours = theirs."""
    (name,) = part["files"]
    for number, line in enumerate(files.lines(name), start=1):
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DamagedFile(f"{name}, line {number} is no JSON: {error}") from error
        if not isinstance(cells, dict):
            raise DamagedFile(
                f"{name}, line {number} holds {type(cells).__name__}; expected an object"
            )
        yield _picked(cells, part["columns"], name, number)


def parquet(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """A parquet file, where pyarrow is installed; ``columns``: ours = theirs."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise BackendUnavailable(
            f"{part['files'][0]} is a parquet file, which needs the package pyarrow: "
            f"{PARQUET_REMEDY}"
        ) from None
    (name,) = part["files"]
    try:
        with files.open(name) as stream:
            rows = (
                row for batch in ParquetFile(stream).iter_batches() for row in batch.to_pylist()
            )
            for number, cells in enumerate(rows, start=1):
                yield _picked(cells, part["columns"], name, number)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, DamagedFile) or getattr(error, "errno", None) is not None:
            raise
        raise DamagedFile(f"{name} is no whole parquet file: {error}") from error


def parallel(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """Several files whose lines belong together; ``columns`` of each file, "" for none."""
    read = [files.lines(name, part.get("encoding", "utf-8")) for name in part["files"]]
    if len({len(lines) for lines in read}) > 1:
        counts = ", ".join(
            f"{name}: {len(lines):,}" for name, lines in zip(part["files"], read, strict=True)
        )
        raise DamagedFile(f"lines that belong together are not equally many: {counts}")
    for number, lines in enumerate(zip(*read, strict=True), start=1):
        row: Row = {}
        for name, line, columns in zip(part["files"], lines, part["columns"], strict=True):
            cells = line.split("\t")
            if len(cells) < len(columns):
                raise DamagedFile(
                    f"{name}, line {number}: {len(cells)} fields; expected {', '.join(columns)}"
                )
            row |= {column: cell for column, cell in zip(columns, cells, strict=False) if column}
        yield row


def lines(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """One text per line; with ``label_first``, a label (up to a colon) and a space before it."""
    (name,) = part["files"]
    for number, line in enumerate(files.lines(name, part.get("encoding", "utf-8")), start=1):
        if not part.get("label_first"):
            yield {"text": line}
            continue
        label, space, text = line.partition(" ")
        if not space:
            raise DamagedFile(
                f"{name}, line {number}: {shown(line)}; expected a label, a space and a text"
            )
        yield {"label": label.partition(":")[0], "text": text}


def tree(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """An archive with a file per text; ``pattern`` finds split, label, id and more in the path of
    each.

    Rows are ordered by the columns ``order``; those in ``descending`` run backwards, those in
    ``numeric`` as numbers. With ``title``, the first line of a text is one, and goes into that
    column.
    """
    pattern, rows = re.compile(part["pattern"]), []
    for name, data in iterate_members(files.archive, lambda name: bool(pattern.search(name))):
        try:
            text = data.decode(part.get("encoding", "utf-8"))
        except UnicodeDecodeError:  # of an older text: bytes 0x80 to 0xff are letters of their own
            text = data.decode("latin-1")
        row = pattern.search(name).groupdict()
        if column := part.get("title"):
            row[column], _, text = text.partition("\n")
        rows.append(row | {part.get("text", "text"): text.replace("\r\n", "\n")})
    if not rows:
        raise DamagedFile(f"{files.archive} has no file that fits {part['pattern']!r}")
    for column in reversed(
        part.get("order", ())
    ):  # the last is sorted by first, as sorting is stable
        rows.sort(
            key=lambda row: int(row[column]) if column in part.get("numeric", ()) else row[column],
            reverse=column in part.get("descending", ()),
        )
    yield from rows


def triplets(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """Every entailment and contradiction of one premise, from tables of ours; ``source`` names
    each table's rows.

    Spaces, casing and punctuation make no other premise, and no other triplet: one that was given
    before is left out.
    """
    given: set[tuple[str, ...]] = set()

    def folded(text: str) -> str:
        return re.sub(r"\W+", "", text.casefold())

    for name, source in zip(part["files"], part["source"], strict=True):
        header, *rows = (line.split("\t") for line in files.lines(name))
        groups: dict[str, dict[str, Any]] = {}
        for cells in rows:
            row = dict(zip(header, cells, strict=True))
            group = groups.setdefault(
                folded(row["premise"]), row | {"entailment": [], "contradiction": []}
            )
            (group[row["label"]] if row["label"] != "neutral" else []).append(row["hypothesis"])
        for group in groups.values():
            for entailment, contradiction in product(group["entailment"], group["contradiction"]):
                key = tuple(map(folded, (group["premise"], entailment, contradiction)))
                if key not in given:
                    given.add(key)
                    yield {
                        "premise": group["premise"],
                        "entailment": entailment,
                        "contradiction": contradiction,
                        "source": source,
                        "split": group["split"],
                    }


@contextlib.contextmanager
def _whole(name: str) -> Iterator[None]:
    """Turns what a cut or foreign stream raises into a DamagedFile."""
    try:
        yield
    except DamagedFile:
        raise
    except (
        EOFError,
        zlib.error,
        lzma.LZMAError,
        gzip.BadGzipFile,
        SyntaxError,
        ValueError,
    ) as error:
        raise DamagedFile(f"{name} is cut or damaged: {type(error).__name__} {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise DamagedFile(f"{name} is cut or damaged: {error}") from error


def wikipedia_dump(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """Articles of a Wikipedia dump as sentences, an empty row after each; of each ``of``, number
    ``shard``, until there are ``words``.

    Sentences end where a full stop, question or exclamation mark stands before a space and a
    capital: a plain rule.
    """
    from gensim.corpora.wikicorpus import extract_pages, filter_wiki

    from .bundled import clean_line

    (name,), words, number = part["files"], 0, -1
    with _whole(name), files.open(name) as stream:  # an XML error is a SyntaxError
        for _, raw, _ in extract_pages(stream, ("0",)):
            if re.match(r"\s*#redirect", raw or "", re.IGNORECASE):
                continue
            number += 1
            if number % part["of"] != part["shard"]:
                continue
            lines = filter(None, map(clean_line, filter_wiki(raw or "").split("\n")))
            sentences = [s for line in lines for s in SENTENCE_END.split(line)]
            words += sum(len(sentence.split()) for sentence in sentences)
            yield from ({"text": sentence} for sentence in [*sentences, ""] if sentences)
            if words >= part["words"]:
                return


def vectors(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """The first ``keep`` words of a GloVe or word2vec text file that are plain letters.

    Other lines, such as a header or words with spaces in them, are passed over.
    """
    (name,), found = part["files"], set()
    with _whole(name), files.open(name) as stream:
        while len(found) < part["keep"] and (raw := stream.readline(MAX_LINE)):
            word, *numbers = raw.decode("utf-8", errors="replace").strip().split(" ")
            plain = word.isalpha() and word.isascii()
            if len(numbers) == part["dim"] and plain and word not in found:
                found.add(word)
                values = [float(number) for number in numbers]
                if not all(abs(value) <= MAX_HALF for value in values):  # nan is not
                    raise DamagedFile(
                        f"{name}: {word!r} has {shown(numbers)}; expected numbers from "
                        f"-{MAX_HALF:,} to {MAX_HALF:,}"
                    )
                yield {"word": word, "numbers": " ".join(map(str, values))}
    if len(found) < part["keep"]:
        raise DamagedFile(f"{name} has {len(found):,} words of letters; expected {part['keep']:,}")


READERS: dict[str, Callable[[Files, Mapping[str, Any]], Iterator[Row]]] = {
    "table": table,
    "json lines": json_lines,
    "parquet": parquet,
    "parallel": parallel,
    "lines": lines,
    "tree": tree,
    "triplets": triplets,
    "wikipedia dump": wikipedia_dump,
    "vectors": vectors,
}
