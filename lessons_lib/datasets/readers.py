"""Reads the formats in which publishers hand out their sets, as rows with our column names.

Each reader takes the fetched files of a publisher and one entry of ``data/publishers.toml`` that
says what stands where, and yields rows, a text by column. What a format says about *one* set
(labels, splits, cleaning) is in the entry, not here: `conversion` applies it. A file that is not
of the promised form is a DamagedFile that says line and file.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO

from ..core import BackendUnavailable, DamagedFile, shown
from ..core.first_bytes import looks_like
from .archives import iterate_members, read_members
from .tables import OPENERS, text_in, whole
from .wikipedia import articles

__all__ = ["READERS", "Files", "Row"]

Row = dict[str, str]
MAX_TEXT = 1 << 28  # what one file may hold after it is decompressed
MAX_LINES = 3_000_000
MAX_LINE = 1 << 20
MAX_VECTORS = 1 << 29  # bytes of a JSON file of vectors
MAX_HALF = 65_504  # the largest number of 16 bits, which vectors are kept in
# a word and its numbers, which are not taken apart before they are needed: the file is large
JSON_VECTOR = re.compile(rb'("(?:[^"\\]|\\.)*"):\[([^\["\]]*)\]')
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[\"'(]?[A-Z])")
PARQUET_REMEDY = "pip install 'lessons_lib[parquet]', or pip install pyarrow"


class Files:
    """The files of a publisher by name: each fetched by itself, or all in one archive."""

    def __init__(self, paths: Mapping[str, Path], archive: Path | None = None,
                 members: Sequence[str] = ()) -> None:
        self.paths, self.archive = paths, archive
        self.members = read_members(archive, members) if archive and members else {}

    def open(self, name: str) -> BinaryIO:
        """A file as a stream of bytes; what is compressed by its name is decompressed."""
        opener = OPENERS.get(Path(name).suffix, open)
        if name not in self.members:
            return opener(self.paths[name], "rb")
        member = io.BytesIO(self.members[name])
        return member if opener is open else opener(member, "rb")

    def text(self, name: str, encoding: str = "utf-8") -> str:
        """The whole text of a file. Raises DamagedFile (cut, not in the encoding, too large)."""
        with whole(name, ValueError), self.open(name) as stream:
            text = text_in(stream, name, encoding=encoding, max_bytes=MAX_TEXT)
        if page := looks_like(text[:512].encode("utf-8")):
            raise DamagedFile(f"{name} is {page}; expected data")
        return text.replace("\r\n", "\n")

    def lines(self, name: str, encoding: str = "utf-8") -> list[str]:
        """The lines of a file; only a line feed ends one."""
        text = self.text(name, encoding)
        if (count := text.count("\n")) > MAX_LINES:
            raise DamagedFile(f"{name} has {count:,} lines; expected at most {MAX_LINES:,}")
        lines = text.split("\n")
        return lines if lines[-1] else lines[:-1]


def _picked(cells: Mapping[str, Any] | Sequence[str], columns: Mapping[str, str] | Sequence[str],
            where: str) -> Row:
    """Our columns of one row of theirs: by their names, or by place ("": none of ours)."""
    if isinstance(columns, Mapping):
        if missing := [theirs for theirs in columns.values() if theirs not in cells]:
            there = shown(list(cells), 120)
            raise DamagedFile(f"{where}: no column {missing[0]!r}; found {there}")
        row = {ours: cells[theirs] for ours, theirs in columns.items()}
        return {ours: "" if cell is None else str(cell) for ours, cell in row.items()}
    if len(cells) < len(columns):
        wanted = f"{len(columns)}: {', '.join(columns)}"
        raise DamagedFile(f"{where}: {len(cells)} fields, {shown(cells)}; expected {wanted}")
    return {ours: cell for ours, cell in zip(columns, cells, strict=False) if ours}


def table(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """Rows of fields; ``columns`` by place, or ours = theirs where there is a header line. With the
    ``delimiter`` "" any white space parts fields, as much of it as there is."""
    (name,), columns = part["files"], part["columns"]
    delimiter, encoding = part.get("delimiter", "\t"), part.get("encoding", "utf-8")
    if part.get("quoted"):
        csv.field_size_limit(1 << 24)
        rows = csv.reader(io.StringIO(files.text(name, encoding), newline=""), delimiter=delimiter)
    else:
        rows = (line.split(delimiter or None) for line in files.lines(name, encoding))
    header = next(rows, []) if isinstance(columns, Mapping) else None
    for number, cells in enumerate(rows, start=1):
        if header is not None:
            cells = dict(zip(header, cells, strict=False))
        yield _picked(cells, columns, f"{name}, row {number}")


def json_lines(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """One JSON object per line; ``columns``: ours = theirs."""
    (name,) = part["files"]
    for number, line in enumerate(files.lines(name), start=1):
        where = f"{name}, line {number}"
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DamagedFile(f"{where} is no JSON: {error}") from error
        if not isinstance(cells, dict):
            raise DamagedFile(f"{where} holds {type(cells).__name__}; expected an object")
        yield _picked(cells, part["columns"], where)


def parquet(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """A parquet file, where pyarrow is installed; ``columns``: ours = theirs."""
    (name,) = part["files"]
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError:
        needs = f"{name} is a parquet file, which needs the package pyarrow"
        raise BackendUnavailable(f"{needs}: {PARQUET_REMEDY}") from None
    with whole(name, pyarrow.ArrowException), files.open(name) as stream:
        batches = ParquetFile(stream).iter_batches()
        rows = (row for batch in batches for row in batch.to_pylist())
        for number, cells in enumerate(rows, start=1):
            yield _picked(cells, part["columns"], f"{name}, row {number}")


def parallel(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """Several files whose lines belong together; ``columns`` of each file, "" for none."""
    names = part["files"]
    read = [files.lines(name, part.get("encoding", "utf-8")) for name in names]
    if len({len(lines) for lines in read}) > 1:
        counts = ", ".join(f"{n}: {len(lines):,}" for n, lines in zip(names, read, strict=True))
        raise DamagedFile(f"lines that belong together are not equally many: {counts}")
    for number, lines in enumerate(zip(*read, strict=True), start=1):
        row: Row = {}
        for name, line, columns in zip(names, lines, part["columns"], strict=True):
            row |= _picked(line.split("\t"), columns, f"{name}, line {number}")
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
            got = f"{name}, line {number}: {shown(line)}"
            raise DamagedFile(f"{got}; expected a label, a space and a text")
        yield {"label": label.partition(":")[0], "text": text}


def marked(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """Records of SMART's test collections: a line ".I" and a number, then fields, each after a line
    with its mark, such as ".W", in the order of ``marks``. ``columns``: ours = the mark; "I" is
    the record's own number, "#" its place in the file, from 1. A mark that stands again or too late
    is a slip inside a text and is left out; ``unrepeated`` = [field, field]: the second without the
    first, where it begins with it."""
    (name,), marks = part["files"], part["marks"]
    records: list[dict[str, list[str]]] = []
    field = ""
    for number, line in enumerate(files.lines(name, part.get("encoding", "utf-8")), start=1):
        begin = re.fullmatch(r"\.I +(\d+) *", line)
        mark = line.rstrip()[1:] if re.fullmatch(r"\.[A-Z] *", line) else ""
        if begin:
            field = ""
            records.append({"I": [str(int(begin[1]))], "#": [str(len(records) + 1)]})
        elif mark and (not records or mark not in marks):
            raise DamagedFile(f"{name}, line {number}: {shown(line)}; expected a number after .I, "
                              f"then {', '.join('.' + m for m in marks)}")
        elif mark and (not field or marks.index(mark) > marks.index(field)):
            field = mark
            records[-1][field] = []
        elif not mark and field:
            records[-1][field] += line.split()
        elif not mark and line.strip():
            raise DamagedFile(f"{name}, line {number}: {shown(line)} belongs to no field; expected "
                              ".I and a number")
    for record in records:
        if part.get("unrepeated"):
            first, second = (record.get(key, []) for key in part["unrepeated"])
            if second[:len(first)] == first:
                record[part["unrepeated"][1]] = second[len(first):]
        cells = {key: " ".join(words) for key, words in record.items()}
        yield _picked(cells, part["columns"], f"{name}, .I {cells['I']}")


def tree(files: Files, part: Mapping[str, Any]) -> Iterable[Row]:
    """An archive with a file per text; ``pattern`` finds split, label, id and more in its path.
    Rows are ordered by the columns ``order``; those in ``descending`` run backwards, those in
    ``numeric`` as numbers. With ``title``, the first line of a text is one, and goes into that
    column."""
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
    for column in reversed(part.get("order", ())):  # the last first, as sorting is stable
        kind = int if column in part.get("numeric", ()) else str
        backwards = column in part.get("descending", ())
        rows.sort(key=lambda row, c=column, kind=kind: kind(row[c]), reverse=backwards)
    return rows


def triplets(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """Every entailment and contradiction of one premise, from tables of ours; ``source`` names each
    table's rows. Spaces, casing and punctuation make no other premise, and no other triplet: one
    that was given before is left out."""
    given: set[tuple[str, ...]] = set()

    def folded(text: str) -> str:
        return re.sub(r"\W+", "", text.casefold())

    for name, source in zip(part["files"], part["source"], strict=True):
        header, *rows = (line.split("\t") for line in files.lines(name))
        groups: dict[str, dict[str, Any]] = {}
        for cells in rows:
            row = dict(zip(header, cells, strict=True))
            new = {"premise": row["premise"], "split": row["split"]}
            new |= {"entailment": [], "contradiction": [], "neutral": []}
            groups.setdefault(folded(row["premise"]), new)[row["label"]].append(row["hypothesis"])
        for group in groups.values():
            for entailment, contradiction in product(group["entailment"], group["contradiction"]):
                key = tuple(map(folded, (group["premise"], entailment, contradiction)))
                if key not in given:
                    given.add(key)
                    sides = {"entailment": entailment, "contradiction": contradiction}
                    about = {"source": source, "split": group["split"]}
                    yield {"premise": group["premise"]} | sides | about


def wikipedia_dump(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """Articles of a Wikipedia dump as sentences, an empty row after each; of each ``of``, number
    ``shard``, until there are ``words``. Sentences end where a full stop, question or exclamation
    mark stands before a space and a capital: a plain rule."""
    (name,), words = part["files"], 0
    # an XML error is a SyntaxError
    with whole(name, SyntaxError, ValueError), files.open(name) as stream:
        for number, (_, lines) in enumerate(articles(stream)):
            if number % part["of"] != part["shard"]:
                continue
            sentences = [s for line in lines for s in SENTENCE_END.split(line)]
            words += sum(len(sentence.split()) for sentence in sentences)
            yield from ({"text": sentence} for sentence in [*sentences, ""] if sentences)
            if words >= part["words"]:
                return


def _vector(name: str, word: str, numbers: Sequence[str]) -> Row:
    """A word and its numbers. Raises DamagedFile for those that 16 bits cannot hold."""
    values = [float(number) for number in numbers]
    if not all(abs(value) <= MAX_HALF for value in values):  # nan is not
        allowed = f"numbers from -{MAX_HALF:,} to {MAX_HALF:,}"
        raise DamagedFile(f"{name}: {word!r} has {shown(numbers)}; expected {allowed}")
    return {"word": word, "numbers": " ".join(map(str, values))}


def vectors(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """The first ``keep`` words of a GloVe or word2vec text file that are plain letters. Other
    lines, such as a header or words with spaces in them, are passed over."""
    (name,), taken = part["files"], set()
    with whole(name, ValueError), files.open(name) as stream:
        while len(taken) < part["keep"] and (raw := stream.readline(MAX_LINE)):
            word, *numbers = raw.decode("utf-8", errors="replace").strip().split(" ")
            plain = word.isalpha() and word.isascii()
            if len(numbers) == part["dim"] and plain and word not in taken:
                taken.add(word)
                yield _vector(name, word, numbers)
    if len(taken) < part["keep"]:
        raise DamagedFile(f"{name} has {len(taken):,} words of letters; expected {part['keep']:,}")


def json_vectors(files: Files, part: Mapping[str, Any]) -> Iterator[Row]:
    """The ``keep`` vectors of a JSON file of wink-nlp, word: [numbers, norm, row], in the order of
    their rows; the vector of unknown words has no row."""
    (name,), row = part["files"], 0
    with whole(name, ValueError), files.open(name) as stream:
        for match in JSON_VECTOR.finditer(stream.read(MAX_VECTORS)):
            numbers = match[2].decode("ascii").split(",")
            if len(numbers) == part["dim"] + 2 and numbers[-1].strip() == str(row):
                row += 1
                yield _vector(name, json.loads(match[1]), numbers[:-2])
    if row != part["keep"]:
        raise DamagedFile(f"{name} has {row:,} vectors of {part['dim']} numbers in the order of "
                          f"their rows; expected {part['keep']:,}")


READERS: dict[str, Callable[[Files, Mapping[str, Any]], Iterable[Row]]] = {
    "table": table,
    "json lines": json_lines,
    "parquet": parquet,
    "parallel": parallel,
    "lines": lines,
    "marked": marked,
    "tree": tree,
    "triplets": triplets,
    "wikipedia dump": wikipedia_dump,
    "vectors": vectors,
    "json vectors": json_vectors,
}
