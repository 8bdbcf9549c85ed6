"""What kernel tests share: the interpreter on machines without a GPU, guarded workspace for what
kernels write, the parity rule, and the shapes written on the formulas, checked at every call."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Iterable, Iterator

import pytest
import torch
from beartype import beartype
from jaxtyping import jaxtyped
from torch import Tensor
from torch.nn.functional import normalize

from lessons_lib.kernels.interpreter import interpreting

GUARD = 64                                      # numbers before and after every buffer
PLAIN = ("alignment", "cosent", "mean_cosine", "ranks")        # operations that are one file
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")

for _name in PLAIN:
    _module = importlib.import_module(f"lessons_lib.kernels.{_name}")
    for _formula in [f for f in vars(_module) if f.startswith("reference_")]:
        _checked = jaxtyped(typechecker=beartype)(getattr(_module, _formula))
        setattr(_module, _formula, _checked)


def cloud(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal rows, the same numbers in every type."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=generator, dtype=torch.float64).to(dtype)


def unit(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Rows of norm 1."""
    return normalize(cloud(n, d, seed, torch.float64), dim=1).to(dtype)


def with_gradients(loss: Callable[..., Tensor], *vectors: Tensor) -> tuple[Tensor, ...]:
    """The value and the gradient of each input."""
    leaves = [x.detach().requires_grad_() for x in vectors]
    value = loss(*leaves)
    return value.detach(), *torch.autograd.grad(value, leaves)


def repeated(run: Callable[[], tuple[Tensor, ...]], times: int = 3) -> tuple[Tensor, ...]:
    """What ``run()`` gives, bitwise the same every time."""
    first, *others = ([x.clone() for x in run()] for _ in range(times))
    assert all(torch.equal(a, b) for other in others for a, b in zip(first, other, strict=True))
    return tuple(first)


def assert_near(results: Iterable[Tensor], exact: Iterable[Tensor], tolerance: float) -> None:
    """Every result lies within a share of the norm of the exact one."""
    for result, expected in zip(results, exact, strict=True):
        assert (result.double() - expected).norm() <= tolerance * expected.norm()


def between_guards(state: object, name: str) -> Callable[[], bool]:
    """Move a tensor of a state between numbers that stay; the result says whether they did."""
    x = getattr(state, name)
    wide = torch.full((x.numel() + 2 * GUARD,), 7.0, device=x.device)
    wide[GUARD:-GUARD] = x.flatten()
    setattr(state, name, wide[GUARD:-GUARD].view(x.shape))
    return lambda: bool((wide[:GUARD] == 7.0).all() and (wide[-GUARD:] == 7.0).all()
                        and torch.isfinite(wide).all())


@pytest.fixture
def triton_here() -> str:
    """The backend name "triton", or a skip that says why no kernel can run."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton has no wheel for this system")
    if not interpreting() and not torch.cuda.is_available():
        pytest.skip("Triton was loaded as a compiler and there is no GPU")
    return "triton"


@pytest.fixture
def device() -> str:
    """Where kernels run in this process: on the CPU in the interpreter, else on the GPU."""
    return "cpu" if interpreting() or not torch.cuda.is_available() else "cuda"


@pytest.fixture(params=["cpu", "reference", "triton"])
def any_backend(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Each backend, and the device on which it runs here."""
    if request.param != "triton":
        return request.param, "cpu"
    return request.getfixturevalue("triton_here"), request.getfixturevalue("device")


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Tensor]]:
    """Every ``torch.empty`` of the test lies, filled with NaN (or the lowest integer), between two
    guards; a store beside it fails the test."""
    buffers: list[Tensor] = []
    empty = torch.empty

    def poisoned(*size: int | tuple[int, ...], dtype: torch.dtype | None = None,
                 device: object = None, **options: object) -> Tensor:
        shape = tuple(size[0]) if size and not isinstance(size[0], int) else tuple(size)
        n = math.prod(shape)
        buffer = empty(n + 2 * GUARD, dtype=dtype, device=device)
        floating = buffer.dtype.is_floating_point
        buffer.fill_(float("nan") if floating else torch.iinfo(buffer.dtype).min)
        buffers.append(buffer)
        return buffer[GUARD : GUARD + n].view(shape)

    monkeypatch.setattr(torch, "empty", poisoned)
    yield buffers
    for buffer in buffers:
        guards = torch.cat([buffer[:GUARD], buffer[-GUARD:]])
        floating = guards.dtype.is_floating_point
        kept = torch.isnan(guards) if floating else guards == torch.iinfo(guards.dtype).min
        assert bool(kept.all()), "a kernel wrote outside its output"


@pytest.fixture
def assert_as_exact_as() -> Callable[..., None]:
    """``check(result, twin, exact)``: the result lies at most twice as far from the float64 result
    as the twin in the same type does, plus one rounding."""
    def check(result: Tensor, twin: Tensor, exact: Tensor, *, slack: float = 2.0) -> None:
        largest = exact.abs().max().clamp(min=torch.finfo(torch.float32).tiny)
        rounding = (twin.double() - exact).abs().max()
        error = (result.double() - exact).abs().max()
        allowed = slack * rounding + 4 * torch.finfo(result.dtype).eps * largest
        assert bool(error <= allowed), (
            f"error {error:.3g}, allowed {allowed:.3g} (the twin's own error is {rounding:.3g})")

    return check


@pytest.fixture
def short_row_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen rows to a block of products, so that few numbers make several blocks."""
    monkeypatch.setattr("lessons_lib.kernels.layout.FULL_RATE_ROWS", 16)
    monkeypatch.setattr("lessons_lib.kernels.layout.CACHE_BYTES", 1)
