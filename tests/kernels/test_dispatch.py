"""Dispatch: a named backend is kept or refused, the device decides otherwise, and nobody hears the
same notice twice."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from lessons_lib.core import PROJECT, BackendUnavailable
from lessons_lib.kernels import backends, dispatch, interpreter, trace, uniformity, use_backend
from lessons_lib.kernels.dispatch import Operation, backend_name

X = torch.eye(4)
OPERATION = Operation("uniformity", dot=True)
ALGEBRA = Operation("alignment", kernel=False, without="algebra is enough")


def fake(device: str, dtype: torch.dtype = torch.float32) -> SimpleNamespace:
    """What dispatch looks at in a tensor on a device that this machine need not have."""
    return SimpleNamespace(dtype=dtype, device=torch.device(device),
                           is_cuda=device.startswith("cuda"))


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """No preference from outside, and a process that was told nothing yet."""
    monkeypatch.delenv("LESSONS_BACKEND", raising=False)
    monkeypatch.delenv("LESSONS_QUIET", raising=False)
    monkeypatch.setattr(dispatch, "_told", set())


def pretend(monkeypatch, name: str, value: object) -> None:
    """Let a question about this machine be answered by ``value``."""
    for module in (dispatch, interpreter):
        monkeypatch.setattr(module, name, lambda: value)


@pytest.fixture
def gpu(monkeypatch):
    """A machine with one GPU of a settable architecture and Triton as a compiler."""
    capability = [9, 0]
    for name, value in (("interpreting", False), ("missing_triton", None), ("broken_triton", None)):
        pretend(monkeypatch, name, value)
    for module in (dispatch, interpreter):
        monkeypatch.setattr(module, "capability", lambda index: 10 * capability[0] + capability[1])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: "Some GPU")
    return capability


def test_the_argument_beats_the_block_beats_the_variable(monkeypatch):
    monkeypatch.setenv("LESSONS_BACKEND", "reference")
    assert OPERATION.choose(X, None) == ("reference", "asked for by LESSONS_BACKEND")
    with use_backend("cpu"):
        assert OPERATION.choose(X, None) == ("cpu", "asked for by use_backend")
        assert OPERATION.choose(X, "reference") == ("reference", "asked for by backend=")
    assert OPERATION.choose(X, None)[0] == "reference"


def test_nested_blocks_end_one_by_one_even_when_one_fails():
    with use_backend("reference"):
        with pytest.raises(ZeroDivisionError), use_backend("cpu"):
            assert OPERATION.choose(X, None)[0] == "cpu"
            _ = 1 / 0
        assert OPERATION.choose(X, None)[0] == "reference"
    assert OPERATION.choose(X, None)[1] != "asked for by use_backend"


def test_a_gpu_tensor_takes_the_kernel_and_a_cpu_tensor_does_not(gpu):
    assert OPERATION.choose(fake("cuda"), None) == ("triton", "CUDA tensor")
    assert OPERATION.choose(X, None)[0] == "cpu"
    assert "move it: x.cuda()" in OPERATION.choose(X, None)[1]


@pytest.mark.parametrize(("x", "words"), [(fake("cuda", torch.float64), "x is float64"),
                                          (fake("cpu"), "x lies on cpu"),
                                          (fake("mps"), "x lies on mps")])
def test_a_named_backend_never_gives_way(gpu, x, words):
    with pytest.raises(BackendUnavailable, match=f"uniformity: backend=.*{words}.*Without backend"):
        OPERATION.choose(x, "triton")


def test_a_limit_of_one_call_refuses_that_call_alone(gpu):
    with pytest.raises(BackendUnavailable, match="k is above 64"):
        OPERATION.choose(fake("cuda"), "triton", limit="k is above 64")
    assert OPERATION.choose(fake("cuda"), None, limit="k is above 64") == ("cpu", "k is above 64")
    assert OPERATION.choose(fake("cuda"), "triton")[0] == "triton"


def test_an_old_gpu_runs_kernels_without_matrix_products_only(gpu):
    gpu[:] = [7, 5]
    assert Operation("pool").choose(fake("cuda"), None)[0] == "triton"
    backend, reason = OPERATION.choose(fake("cuda"), None)
    assert backend == "cpu" and "sm_75 is older than sm_80" in reason


def test_LESSONS_BACKEND_triton_without_a_gpu_is_refused_by_name(monkeypatch):
    pretend(monkeypatch, "interpreting", False)
    pretend(monkeypatch, "missing_triton", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("LESSONS_BACKEND", "triton")
    with pytest.raises(BackendUnavailable, match="LESSONS_BACKEND=.* no CUDA.*Without LESSONS_B"):
        uniformity(X)
    with pytest.raises(BackendUnavailable,
                       match=r"uniformity: use_backend='triton'"), use_backend("triton"):
        uniformity(X)


def test_an_operation_without_a_kernel_runs_its_algebra_under_a_general_wish_and_refuses_its_own():
    with use_backend("triton"):
        assert ALGEBRA.choose(X, None) == ("cpu", "no Triton kernel: algebra is enough")
    with pytest.raises(BackendUnavailable, match="no Triton kernel: algebra is enough"):
        ALGEBRA.choose(X, "triton")


def test_a_broken_triton_is_a_notice_without_a_wish_and_an_error_with_one(gpu, monkeypatch, caplog):
    pretend(monkeypatch, "broken_triton", "Triton is installed but cannot be loaded")
    assert OPERATION.choose(fake("cuda"), None)[0] == "cpu"
    assert "cannot be loaded" in caplog.text
    with pytest.raises(BackendUnavailable, match="cannot be loaded"):
        OPERATION.choose(fake("cuda"), "triton")


@pytest.mark.parametrize("wrong", ["tritton", "", 5, True, ("cpu",)])
def test_P27_a_misspelt_backend_is_answered_with_all_names(wrong, monkeypatch):
    with pytest.raises(ValueError, match=r"backend=.*unknown.*Allowed: 'triton', 'cpu', 'ref"):
        uniformity(X, backend=wrong)
    with pytest.raises(ValueError, match="Allowed: 'triton'"), use_backend(wrong):
        pass
    assert backend_name(None) == "" and backend_name("cpu") == "cpu"
    monkeypatch.setenv("LESSONS_BACKEND", "refrence")
    with pytest.raises(ValueError, match="LESSONS_BACKEND='refrence'.*Did you mean 'reference'"):
        uniformity(X)


def test_a_gpu_without_its_kernel_is_told_once_whatever_asks_in_any_thread(gpu, monkeypatch,
                                                                           caplog):
    pretend(monkeypatch, "missing_triton", "Triton is not installed")
    with ThreadPoolExecutor(8) as pool:
        names = ["uniformity", "info_nce"] * 32
        chosen = pool.map(lambda name: Operation(name).choose(fake("cuda"), None), names)
        assert set(chosen) == {("cpu", "Triton is not installed")}
    assert caplog.text.count("Triton is not installed") == 1 and "LESSONS_QUIET=1" in caplog.text
    OPERATION.choose(fake("cuda", torch.float64), None)
    assert caplog.text.count("x is float64") == 1           # another cause is told once too
    assert len(caplog.records) == 2


def test_the_notice_can_be_silenced_and_is_not_made_up_for_later(gpu, monkeypatch, caplog):
    pretend(monkeypatch, "missing_triton", "Triton is not installed")
    monkeypatch.setenv("LESSONS_QUIET", "1")
    OPERATION.choose(fake("cuda"), None)
    monkeypatch.delenv("LESSONS_QUIET")
    OPERATION.choose(fake("cuda"), None)
    assert not caplog.records


@pytest.mark.parametrize(("device", "told"), [("cpu", 0), ("meta", 0), ("mps", 1), ("xpu", 1)])
def test_only_who_could_expect_a_kernel_is_told(device, told, caplog):
    with caplog.at_level(logging.WARNING):
        assert OPERATION.choose(fake(device), None)[0] == "cpu"
        assert ALGEBRA.choose(fake(device), None)[0] == "cpu"
    assert len(caplog.records) == told


def test_a_thread_without_a_block_follows_the_one_that_is_open():
    with ThreadPoolExecutor(1) as pool:
        # the thread is older than the block
        assert pool.submit(OPERATION.choose, X, None).result()[0] == "cpu"
        with use_backend("reference"), trace() as t:
            assert pool.submit(OPERATION.choose, X, None).result()[0] == "reference"
            pool.submit(uniformity, X).result()
        assert [run.backend for run in t.runs] == ["reference"]
        assert pool.submit(OPERATION.choose, X, None).result()[0] == "cpu"


def test_two_threads_keep_their_own_blocks():
    chosen, meet = {}, threading.Barrier(2)

    def work(name: str) -> None:
        with use_backend(name):
            meet.wait()
            chosen[name] = OPERATION.choose(X, None)[0]
            meet.wait()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, ("cpu", "reference")))
    assert chosen == {"cpu": "cpu", "reference": "reference"}
    assert OPERATION.choose(X, None)[1] != "asked for by use_backend"


@pytest.mark.parametrize("where", ["cpu", pytest.param("cuda", marks=[
    pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")])])
def test_what_is_computed_again_in_the_backward_pass_takes_the_same_backend(where):
    with use_backend("reference"), trace() as t:
        x = X.to(where, copy=True).requires_grad_()
        checkpoint(uniformity, x, use_reentrant=False).backward()
    assert [run.backend for run in t.runs] == ["reference", "reference"]


class Scored(torch.utils.data.Dataset):
    """A data set that calls a kernel for each item."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, i: int) -> tuple[float, str]:
        return uniformity(X[: i + 2]).item(), OPERATION.choose(X, None)[0]


@pytest.mark.skipif(sys.platform == "win32", reason="workers are forked here, and Windows cannot")
def test_a_loader_s_workers_take_the_backend_of_the_block():
    with use_backend("reference"):
        loader = torch.utils.data.DataLoader(Scored(), batch_size=None, num_workers=1,
                                             multiprocessing_context="fork")
        found = list(loader)
    assert [name for _, name in found] == ["reference"] * 3
    assert [value for value, _ in found] == [uniformity(X[: i + 2]).item() for i in range(3)]


def rows() -> dict[str, tuple[bool, str]]:
    return {row.name: (row.available, row.reason) for row in backends()}


def test_backends_says_what_this_machine_can_do(gpu, monkeypatch):
    assert rows()["cpu"][0] and rows()["reference"][0]
    assert rows()["triton"] == (True, "Some GPU, sm_90")
    gpu[:] = [7, 5]
    assert "older than sm_80" in rows()["triton"][1]
    pretend(monkeypatch, "broken_triton", "cannot be loaded")
    assert rows()["triton"] == (False, "cannot be loaded")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert not rows()["triton"][0] and "no CUDA device" in rows()["triton"][1]
    pretend(monkeypatch, "missing_triton", "Triton is not installed")
    assert rows()["triton"] == (False, "Triton is not installed")


def test_the_doctor_calls_a_missing_kernel_a_note_not_a_fault(monkeypatch):
    from lessons_lib.diagnosis import _kernels

    pretend(monkeypatch, "missing_triton", "Triton is not installed")
    finding = _kernels()
    assert finding.state == "note" and finding.remedy
    assert finding.text == "cpu, reference can run; triton: Triton is not installed"


WITHOUT_TRITON = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("triton", "numba"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
import torch
from lessons_lib import kernels
from lessons_lib.core import BackendUnavailable

x = torch.randn(6, 3, requires_grad=True)
kernels.uniformity(x).backward()
assert x.grad.isfinite().all()
assert not kernels.backends()[0].available
for wish in (lambda: kernels.uniformity(x, backend="triton"), kernels.interpret):
    try:
        wish()
    except BackendUnavailable as error:
        assert "Triton is not installed" in str(error), error
    else:
        raise AssertionError("nothing was refused")
print("whole")
"""


@pytest.mark.slow
def test_without_triton_and_numba_the_room_imports_and_runs_on_the_processor():
    done = subprocess.run([sys.executable, "-c", WITHOUT_TRITON], cwd=PROJECT, capture_output=True,
                          text=True)
    assert done.stdout.strip() == "whole", done.stderr


def test_importing_the_room_loads_no_triton():
    code = "import sys, lessons_lib.kernels; print('triton' in sys.modules, 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True,
                          text=True).stdout.strip() == "False False"
