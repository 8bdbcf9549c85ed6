"""Do the tests notice a fault? Each mutant is the library with one operator, number or condition
changed; a mutant that no test notices is a survivor, and `mutants.tsv` says why it may be one.

``python tests/house/mutants.py evaluation --sample 150`` draws the mutants of a group, prints how
many were killed and the survivors that the table does not explain. cosmic-ray makes the mutants
(``pip install cosmic-ray==8.7.0``). The tests are collected once; each mutant is a fork that puts
the changed functions in place of those that were loaded and runs the tests that call them. What
survives there and acts at import, such as a default or a constant, runs once more in a fork that
loads the changed file from the beginning.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import csv
import dataclasses
import gc
import importlib
import importlib.machinery
import itertools
import os
import pickle
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("mutants.tsv")
GROUPS = {  # what is changed, and the tests that have to notice
    "checks": (["core/checks.py", "core/parameters.py"],
               ["tests/core/test_checks.py", "tests/core/test_declared.py",
                "tests/core/test_estimator.py"]),
    "evaluation": (["evaluation/[!m]*.py"], ["tests/evaluation"]),       # mteb is an extra set
    "reference": (["kernels/*/reference.py"], ["tests/kernels"]),
    "grading": (["classroom/grading.py", "classroom/tables.py"],
                ["tests/classroom/test_grading.py", "tests/classroom/test_tables.py"]),
}
# One change of each kind: sign, factor, boundary, negation, constant, exception, empty loop. The
# other operators of cosmic-ray change the same places to what fails at once, and flatter the share.
BINARY = ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Div", "Mod_FloorDiv", "Pow_Mul",
          "BitOr_BitAnd", "BitAnd_BitOr", "LShift_RShift", "RShift_LShift")
COMPARISONS = ("Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt",
               "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")
UNARY = ("USub_UAdd", "Delete_Not", "Delete_Invert")
OPERATORS = (*(f"ReplaceBinaryOperator_{name}" for name in BINARY),
             *(f"ReplaceComparisonOperator_{name}" for name in COMPARISONS),
             *(f"ReplaceUnaryOperator_{name}" for name in UNARY),
             "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr",
             "ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak",
             "ExceptionReplacer", "NumberReplacer", "RemoveDecorator", "ZeroIterationForLoop")
PATIENCE = 20                                    # seconds beyond three times what the tests take
CHANGED = "<changed>"
KILLED = 10                                      # and how many tests ran before: a fork's status


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change: its file and function, the line before and after, and the whole new text;
    ``body``: whether it lies in the body of the function."""

    file: str
    function: str
    body: bool
    row: int
    before: str
    after: str
    source: str


def places_of(path: Path) -> Iterator[tuple[Path, str, int, tuple[int, int]]]:
    """Where a file can be changed: path, operator, the how-manieth place of it, line and column."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator

    source = path.read_text(encoding="utf-8")
    silent, lines, nodes = list(_silent(ast.parse(source))), source.split("\n"), get_ast(source)
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        places = [start for node in ast_nodes(nodes)
                  for start, _ in operator.mutation_positions(node)]
        for occurrence, (row, column) in enumerate(places):
            line = lines[row - 1]
            unpacks = line[column:].startswith("*") and line[:column].rstrip()[-1:] in "([{,"
            if not unpacks and not any(begin <= (row, column) < end for begin, end in silent):
                yield path, name, occurrence, (row, column)


def mutant_of(path: Path, name: str, occurrence: int, place: tuple[int, int]) -> Mutant | None:
    """The mutant of a place, None where Python cannot read it."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    source, row = path.read_text(encoding="utf-8"), place[0]
    new = mutate_code(source, get_operator(f"core/{name}")(), occurrence)
    try:
        compile(new, str(path), "exec")
    except SyntaxError:
        return None
    lines, changed = source.split("\n"), new.split("\n")
    after = changed[row - 1] if len(changed) == len(lines) else ""
    return Mutant(path.relative_to(ROOT / "lessons_lib").as_posix(),
                  *_function(ast.parse(source), row), row, " ".join(lines[row - 1].split()),
                  " ".join(after.split()), new)


def _silent(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations, ``__all__`` and what is read by type checkers alone begin and end."""
    for node in ast.walk(tree):
        found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            found.append(node)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found.append(node)
        for part in found:
            if part is not None:
                yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def _function(tree: ast.Module, row: int) -> tuple[str, bool]:
    """The outermost function or method around a line, "" outside of all; whether in its body."""
    def search(nodes: list[ast.stmt], prefix: str) -> tuple[str, bool]:
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.lineno <= row <= node.end_lineno:
                return search(node.body, f"{prefix}{node.name}.")
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                if first <= row <= node.end_lineno:
                    return prefix + node.name, row >= node.body[0].lineno
        return "", False

    return search(tree.body, "")


# ------------------------------------------------------------------------ one changed library


def put_in_place(file: str, source: str, function: str = "") -> None:
    """Give the loaded functions of a file the code and defaults that they have in a changed text.

    Raises LookupError where ``function`` is none of them.
    """
    path = str(ROOT / "lessons_lib" / file)
    module = importlib.import_module("lessons_lib." + file.removesuffix(".py").replace("/", "."))
    fresh = ModuleType(module.__name__)
    fresh.__dict__.update(__package__=module.__package__, __file__=path)
    sys.modules[module.__name__] = fresh         # a dataclass looks its module up
    try:
        exec(compile(source, CHANGED, "exec"), fresh.__dict__)
    finally:
        sys.modules[module.__name__] = module
    live, new = defaultdict(list), defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType):
            where = {path: live, CHANGED: new}.get(thing.__code__.co_filename)
            if where is not None and (where is live or thing.__globals__ is fresh.__dict__):
                where[thing.__code__.co_qualname].append(thing)
    if function and (function not in live or function not in new):
        raise LookupError(function)
    for name, functions in live.items():
        for old, changed in zip(functions, new.get(name, functions), strict=False):
            old.__code__ = changed.__code__
            old.__defaults__, old.__kwdefaults__ = changed.__defaults__, changed.__kwdefaults__


def telling(file: str) -> str:
    """The text of a file whose functions put their names into `builtins.called_functions`."""
    tree = ast.parse((ROOT / "lessons_lib" / file).read_text(encoding="utf-8"))

    def tell(nodes: list[ast.stmt], prefix: str) -> None:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                tell(node.body, f"{prefix}{node.name}.")
            if isinstance(node, ast.FunctionDef):
                line = f"called_functions.add({(file, prefix + node.name)!r})"
                node.body.insert(0, ast.parse(line).body[0])

    tell(tree.body, "")
    return ast.unparse(ast.fix_missing_locations(tree))


def load_changed(mutant: Mutant) -> None:
    """Let the import of the file read the changed text, and no compiled one."""
    path, loader = str(ROOT / "lessons_lib" / mutant.file), importlib.machinery.SourceFileLoader
    get_data, path_stats = loader.get_data, loader.path_stats

    def data(self: Any, name: str) -> bytes:
        return mutant.source.encode() if str(name) == path else get_data(self, name)

    def stats(self: Any, name: str) -> Any:
        if str(name) == path:
            raise OSError("not compiled")
        return path_stats(self, name)

    loader.get_data, loader.path_stats = data, stats


def forked(work: Callable[[], int], seconds: float) -> int | None:
    """The status of what runs in a fork, without its output; None where it took too long."""
    process = os.fork()
    if not process:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        status = 3
        with contextlib.suppress(BaseException):
            status = work()
        os._exit(status)
    end, status = time.monotonic() + seconds, None
    while time.monotonic() < end and status is None:
        done, code = os.waitpid(process, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(code)
        else:
            time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):            # and what it started
        os.killpg(process, signal.SIGKILL)
    if status is None:
        os.waitpid(process, 0)
    return status


# --------------------------------------------------------------------------------- the tests


class Hunt:
    """A plugin: instead of running the collected tests, hunts the mutants with them."""

    def __init__(self, mutants: list[Mutant]) -> None:
        self.mutants, self.failed = mutants, 0
        self.files = {str(ROOT / "lessons_lib" / m.file): m.file for m in mutants}
        self.survivors: list[tuple[Mutant, list[str]]] = []
        self.late: list[Mutant] = []
        self.here: set[tuple[str, str]] = set()
        sys.setprofile(self._note)               # what is called while all is imported

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        code: CodeType = frame.f_code
        if event == "call" and code.co_filename in self.files:
            self.here.add((self.files[code.co_filename], code.co_qualname.split(".<locals>")[0]))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed += report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        sys.setprofile(None)
        self.items, imported = {item.nodeid: item for item in session.items}, set(self.here)
        (called, took), kills = self._calls(), Counter()
        for number, mutant in enumerate(self.mutants):
            function = mutant.file, mutant.function
            # quick ones first, and those that have killed
            names = sorted((n for n in took if function in called[n]),
                           key=lambda n: took[n] / (1 + 9 * kills[n]))
            status = 3
            if names:
                seconds = PATIENCE + 3 * sum(took[n] for n in names)
                status = forked(lambda m=mutant, n=names: put_in_place(m.file, m.source, m.function)
                                or self._run(n), seconds)
            if status is not None and status >= KILLED:
                kills.update(names[status - KILLED:status - KILLED + 1])
            if status is None:
                self.late.append(mutant)
            if status in (0, 3):
                sure = status == 0 and mutant.body and function not in imported
                self.survivors.append((mutant, [] if sure else names or ["all"]))
            word = {0: "survives", None: "late", 3: "unclear"}.get(status, "killed")
            print(f"{number + 1}/{len(self.mutants)} {word} {mutant.file}:{mutant.row} "
                  f"{mutant.after} ({len(names)} tests)", flush=True)
        return True

    def _run(self, names: list[str]) -> int:
        items = [self.items[name] for name in names]
        for number, (item, after) in enumerate(zip(items, [*items[1:], None], strict=True)):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                return KILLED + min(number, 255 - KILLED)
        return 0

    def _calls(self) -> tuple[dict[str, set[tuple[str, str]]], dict[str, float]]:
        """By test that passes: the functions it calls, and its seconds."""
        with tempfile.NamedTemporaryFile() as out:
            def measure() -> int:
                calls, took = {}, {}
                here = builtins.called_functions = set()
                for file in self.files.values():
                    put_in_place(file, telling(file))
                for name, item in self.items.items():
                    here.clear()
                    before, start = self.failed, time.monotonic()
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                    if self.failed == before:
                        calls[name], took[name] = set(here), time.monotonic() - start
                Path(out.name).write_bytes(pickle.dumps((calls, took)))
                return 0

            assert forked(measure, 3600) == 0, "the tests cannot run"
            calls, took = pickle.loads(Path(out.name).read_bytes())
        self.seconds = sum(took.values())
        print(f"{len(took)} of {len(self.items)} tests pass, in {self.seconds:.0f} s; without "
              f"{sorted(set(self.items) - set(took))}", flush=True)
        return calls, took


def session(paths: list[str], *plugins: object) -> int:
    return int(pytest.main([*paths, "-q", "-x", "-s", "-p", "no:cacheprovider"],
                           plugins=[*plugins]))


def hunted(group: str, only: str, sample: int, seed: int) -> tuple[int, list[Mutant], list[Mutant]]:
    """How many mutants of a group there were, which survive, and which took too long."""
    patterns, tests = GROUPS[group]
    places = [place for pattern in patterns
              for path in sorted((ROOT / "lessons_lib").glob(pattern)) for place in places_of(path)
              if only in f"{path}:{place[3][0]}"]
    if sample:
        random.Random(seed).shuffle(places)
    made = filter(None, itertools.starmap(mutant_of, places))
    chosen = list(itertools.islice(made, sample or None))
    print(f"{group}: {len(chosen)} mutants of {len(places)} places", flush=True)
    import numba, numpy, pandas, scipy.stats, torch  # noqa: E401, F401  for the second forks
    with tempfile.NamedTemporaryFile() as out:
        def hunt() -> int:
            plugin = Hunt(chosen)
            os.dup2(screen, 1)
            assert session(tests, plugin) == 0
            Path(out.name).write_bytes(pickle.dumps((plugin.survivors, plugin.late)))
            return 0

        screen = os.dup(1)
        assert forked(hunt, 24 * 3600) == 0, "the hunt broke off"
        survivors, late = pickle.loads(Path(out.name).read_bytes())
    left = []
    for mutant, names in survivors:
        status, again = 0, tests if names == ["all"] or group == "checks" else names
        if names:
            status = forked(lambda m=mutant, a=again: load_changed(m) or session(a), 600)
        if status == 0:
            left.append(mutant)
            print(f"SURVIVES {mutant.file}:{mutant.row} {mutant.after}", flush=True)
        else:
            print(f"killed at import ({status}) {mutant.file}:{mutant.row} {mutant.after}",
                  flush=True)
    return len(chosen), left, late


def likely(killed: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share that was seen in ``n`` draws, by Wilson."""
    z = 1.96
    middle, half = killed + z * z / 2, z * (killed * (n - killed) / n + z * z / 4) ** 0.5
    return (middle - half) / (n + z * z), (middle + half) / (n + z * z)


def explained() -> dict[tuple[str, str, str], str]:
    """The reasons in the table, by file, line and changed line."""
    if not TABLE.exists():
        return {}
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["file"], row["line"], row["mutant"]): row["reason"] for row in rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("groups", nargs="*", default=list(GROUPS), metavar="group",
                        help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--sample", type=int, default=0, help="so many of each group; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of FILE:LINE")
    options = parser.parse_args()
    reasons, unknown = explained(), 0
    for group in options.groups:
        n, left, late = hunted(group, options.only, options.sample, options.seed)
        for mutant in left:
            reason = reasons.get((mutant.file, mutant.before, mutant.after))
            unknown += reason is None
            print(f"{mutant.file}\t{mutant.row}\t{mutant.before}\t{mutant.after}\t{reason or ''}")
        low, high = likely(n - len(left), n)
        print(f"{group}: {n} mutants, {n - len(left)} killed ({low:.0%} to {high:.0%} where the "
              f"mutants were drawn), {len(left)} survive; {len(late)} of the killed ran too long",
              flush=True)
    return unknown > 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    raise SystemExit(main())
