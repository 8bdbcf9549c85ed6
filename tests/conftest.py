"""What all tests share: two tiers, the folder of real data, no network, an output and cache folder
of their own.

Without ``--all`` the tests marked ``slow`` are left out and each property is tried on 10 examples;
with it nothing is left out and 200 are tried. A test that is not marked and takes more than
`UNMARKED_SECONDS` fails, so that the first tier stays short.
"""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time          # tests put clocks of their own into the module
from typing import Any

import hypothesis
import pytest
from jaxtyping import install_import_hook
from numba.core import event

# All switches have to come before the modules they act on: Triton runs in its interpreter where
# there is no GPU,
# and the shapes written on the formulas of the kernels are checked at every call.
if not Path("/dev/nvidia0").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")
# One process for each core is at work already; threads of its own would wait for each other, and
# waiting takes the cores from the other tests.
if "PYTEST_XDIST_WORKER" in os.environ:
    for pool in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(pool, "1")
    # of lessons too: threads of two side by side take the cores while they wait
    os.environ.setdefault("LESSONS_THREADS", "1")
    # some kernels have two threads all the same
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
FORMULAS = sorted((Path(__file__).parents[1] / "lessons_lib" / "kernels").glob("*/reference.py"))
install_import_hook([f"lessons_lib.kernels.{path.parent.name}.reference" for path in FORMULAS],
                    "beartype.beartype")

from lessons_lib.core import external_data_folder  # noqa: E402

# A shell that starts the tests in the background lets them ignore Ctrl-C, and all that they start;
# some tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


UNMARKED_SECONDS = 5.0
EXAMPLES = {"quick": 10, "all": 200}
CALIBRATION_SECONDS = 0.06  # what `machine_slowness` takes on the machine where the limit was set
NEIGHBOURS = 2              # times as long beside another worker, with caches and cores to share
compiling = event.TimingListener()
event.register("numba:compile", compiling)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the slow tests too, and try 200 "
                     "examples of each property instead of 10")


def pytest_configure(config: pytest.Config) -> None:
    tier = "all" if config.getoption("--all") else "quick"
    # the same examples wherever the tests run: what fails here fails there, and what passed passes
    fixed = config.getoption("--hypothesis-seed", default=None) is None
    hypothesis.settings.register_profile(tier, max_examples=EXAMPLES[tier], deadline=None,
                                         derandomize=fixed)
    hypothesis.settings.load_profile(tier)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The fresh clone first: it takes long, and the second worker runs the others."""
    items.sort(key=lambda item: "in_a_fresh_clone" not in item.name)
    named = any("::" in argument for argument in config.args)  # who names one test wants it run
    if not (config.getoption("--all") or named):
        slow = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)


def machine_slowness() -> float:
    """How many times longer than the reference machine this one takes; at least 1."""
    start = process_time()
    sum(i * i for i in range(1_000_000))
    return max(1.0, (process_time() - start) / CALIBRATION_SECONDS)


def processor_seconds() -> float:
    """Of this process and its ended children: unlike the clock, the same beside other work."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def compiling_seconds() -> float:
    """Spent on compiling loops: done once for each machine, in whichever test comes first."""
    return compiling.duration if compiling.done else 0.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that belongs to the second tier and is not marked."""
    before = (perf_counter(), processor_seconds()), compiling_seconds()
    result = yield
    after = (perf_counter(), processor_seconds()), compiling_seconds()
    seconds = min(b - a for a, b in zip(before[0], after[0], strict=True)) - (after[1] - before[1])
    limit = UNMARKED_SECONDS
    if hasattr(item.obj, "hypothesis"):
        limit *= hypothesis.settings.default.max_examples / EXAMPLES["quick"]
    if "PYTEST_XDIST_WORKER" in os.environ:
        limit *= NEIGHBOURS
    marked = item.get_closest_marker("slow") or item.get_closest_marker("essential")
    if seconds > limit and not marked:
        limit *= machine_slowness()                 # as it is now, beside whatever else runs
        if seconds > limit:
            pytest.fail(f"took {seconds:.1f} s of a processor, more than {limit:.1f}: make it "
                        "shorter, or mark it "
                        "@pytest.mark.slow, which leaves it to `lessons test --all`")
    return result


@pytest.fixture
def lessons_data() -> Path:
    """The folder of real evaluation sets; the test is skipped when LESSONS_DATA names none."""
    folder = external_data_folder()
    if folder is None or not folder.is_dir():
        pytest.skip("LESSONS_DATA names no folder with the real evaluation sets")
    return folder


@pytest.fixture(scope="session")
def course_site(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The site of the course, made once for all processes that test, because it takes a minute."""
    from filelock import FileLock

    from lessons_lib.publish.web import build_site, site_missing

    if reason := site_missing():
        pytest.skip(f"no site: {reason}")
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with FileLock(shared / "site.lock"):
        if not (shared / "site.pickle").exists():
            (shared / "site.pickle").write_bytes(pickle.dumps(build_site(shared / "site")))
    return pickle.loads((shared / "site.pickle").read_bytes())


@pytest.fixture(scope="session")
def folder_of_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Numbered folders, counted here: pytest would read all that are there to number the next."""
    base = tmp_path_factory.mktemp("own")
    return (base / str(i) for i in itertools.count())


@pytest.fixture(autouse=True)
def own_folders(folder_of_folders: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a test writes reaches the user's cache, leaderboard or output."""
    own = next(folder_of_folders)
    for variable in ("LESSONS_CACHE", "LESSONS_OUTPUT"):
        folder = own / variable.removeprefix("LESSONS_").lower()
        folder.mkdir(parents=True)
        monkeypatch.setenv(variable, str(folder))


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this machine can be reached from a test."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET,
                           socket.AF_INET6) and address[0] not in ("127.0.0.1", "localhost", "::1"):
            raise OSError(f"a test tried to reach {address}; tests are offline")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_only)


@pytest.fixture
def little_memory(monkeypatch):
    """A machine on which a million bytes are free."""
    monkeypatch.setenv("LESSONS_FREE_MEMORY", "1000000")


@pytest.fixture(scope="session")
def two_processes() -> Callable[..., list[Any]]:
    """``two_processes(work, n, *more)``: the n answers that two processes put into the queue which
    ``work(rank, port, answers, *more)`` gets; it must be importable by its name.
    """
    from torch import multiprocessing

    def run(work: Callable[..., None], n: int, *more: Any) -> list[Any]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        spawn = multiprocessing.get_context("spawn")
        queue = spawn.Queue()
        processes = [spawn.Process(target=work, args=(rank, port, queue, *more), daemon=True)
                     for rank in range(2)]
        for process in processes:
            process.start()
        answers = [queue.get(timeout=120) for _ in range(n)]
        for process in processes:
            process.join(60)
        return answers

    return run
