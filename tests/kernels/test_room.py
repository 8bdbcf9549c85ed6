"""The room: each operation holds what a reader expects to find, under the same names."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import pytest
import torch
from jaxtyping import Float, TypeCheckError
from torch import Tensor

from lessons_lib import kernels
from lessons_lib.core import PROJECT
from lessons_lib.kernels.aot import operations_with_kernels
from lessons_lib.kernels.configs import table

from .conftest import PLAIN

ROOM = PROJECT / "lessons_lib" / "kernels"
FOLDERS = sorted(path.parent.name for path in ROOM.glob("*/__init__.py"))
NAMES = sorted([*FOLDERS, *PLAIN])
WITH_KERNEL = operations_with_kernels()
HAS_TRITON = importlib.util.find_spec("triton") is not None
needs_triton = pytest.mark.skipif(not HAS_TRITON, reason="Triton has no wheel for this system")
every_operation = pytest.mark.parametrize("name", NAMES)
every_kernel = pytest.mark.parametrize("name", WITH_KERNEL)
TYPES = ("float32", "bfloat16")
ONE_TYPE = {"glove_step", "lda_sweep", "window_update"}      # models and counts are float32
RACING = {"window_update"}              # its programs add to the same rows; never deterministic


def module(name: str, part: str = ""):
    return importlib.import_module(f"lessons_lib.kernels.{name}" + (f".{part}" if part else ""))


def dispatched(name: str) -> list[str]:
    """The functions that implementations have to have, read from the text: those of OPERATION.run,
    and value and gradient of a loss."""
    path = ROOM / name / "__init__.py" if name in FOLDERS else ROOM / f"{name}.py"
    calls = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
    named = {ast.unparse(call.func): call for call in calls}
    run = {call.args[0].value for call in calls if ast.unparse(call.func) == "OPERATION.run"}
    return sorted(run | ({name, "value_and_gradient"} if "scalar_loss" in named else set()))


def implementations(name: str, function: str) -> dict[str, object]:
    """backend -> function."""
    backends = ["reference", "cpu"] + (["triton"] if name in WITH_KERNEL and HAS_TRITON else [])
    return {b: module(name).OPERATION.implementation(b, function) for b in backends}


def signature(function) -> str:
    """Names, kinds, defaults and types; a shape in an annotation is left out, because only the
    formula states it."""
    text = re.sub(r"[\"'\\]", "", str(inspect.signature(function)))
    return re.sub(r"\b[A-Z]\w*\[Tensor, [^\[\]]*\]", "Tensor", text)


def test_the_walk_finds_operations_and_no_empty_folder():
    assert len(NAMES) >= 10 and {"uniformity", "info_nce", "knn"} <= set(NAMES)
    assert {path.parent.name for path in ROOM.glob("*/*.py")} == set(FOLDERS)
    plain = {path.stem for path in ROOM.glob("*.py") if "\nOPERATION = " in path.read_text("utf-8")}
    assert plain == set(PLAIN)
    names = [name for name in kernels.__all__ if name not in kernels.BACKENDS]
    assert names == sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n))
    assert all(hasattr(kernels, name) for name in names)


@every_operation
def test_an_operation_knows_its_name_its_kernel_and_has_tests(name):
    operation, folder = module(name).OPERATION, ROOM / name
    assert operation.name == name and operation.plain == (name in PLAIN)
    assert (operation.kernel == (folder / "gpu.py").exists() == (folder / "configs.json").exists()
            == (not operation.without))
    assert (Path(__file__).parent / f"test_{name}.py").exists() and dispatched(name)


@every_operation
def test_all_implementations_have_the_same_functions_with_the_same_signature(name):
    for function in dispatched(name):
        signatures = {b: signature(f) for b, f in implementations(name, function).items()}
        assert len(set(signatures.values())) == 1, f"{function}: {signatures}"


def test_the_comparison_of_signatures_sees_names_defaults_and_types_but_no_shapes():
    def one(x: Float[Tensor, "n d"], *, k: int = 2) -> tuple[Tensor, Float[Tensor, ""]]: ...
    def two(x: Tensor, *, k: int = 2) -> tuple[Tensor, Tensor]: ...
    def three(x: Tensor, *, k: int = 3) -> tuple[Tensor, Tensor]: ...
    def four(y: Tensor, *, k: int = 2) -> tuple[Tensor, Tensor]: ...

    expected = "(x: Tensor, *, k: int = 2) -> tuple[Tensor, Tensor]"
    assert signature(one) == signature(two) == expected
    assert len({signature(function) for function in (two, three, four)}) == 3


@every_operation
def test_the_public_function_is_exported_documented_and_takes_a_backend(name):
    public = getattr(kernels, name)
    assert name in kernels.__all__ and name in module(name).__all__
    assert public is getattr(module(name), name)
    backend = inspect.signature(public).parameters["backend"]
    assert backend.default is None and backend.kind is inspect.Parameter.KEYWORD_ONLY
    assert "Raises" in public.__doc__ and re.search(r"``\d\d_\w+``", module(name).__doc__)
    bench = [path.read_text("utf-8") for path in (PROJECT / "lessons_lib/bench").glob("kernels*")]
    assert any(re.search(rf"\b{name}\b", text) for text in bench), f"no benchmark of {name}"


CALLS = {                                       # a small valid call of each public function
    "alignment": ([[1.0, 0.0]], [[0.0, 1.0]]), "cosent": ([0.5, 0.1], [1, 0]),
    "info_nce": (torch.eye(2), torch.eye(2)), "knn": (torch.eye(2), torch.eye(2)),
    "maxsim": (torch.eye(3), torch.eye(3), [0, 3]),
    "mean_cosine": (torch.eye(3),), "mean_covariance": (torch.eye(3),), "ranks": ([3.0, 1.0],),
    "pool": (torch.ones(1, 2, 3), [[1, 1]]), "segment_moments": (torch.eye(3), [0, 3]),
    "uniformity": (torch.eye(3),),
    "document_update": (kernels.DocumentState([0, 1], [0, 2], torch.ones(4, 2), torch.eye(2),
                                              [1, 1], tags=[0], tag_offsets=[0, 1]),),
    "glove_step": (kernels.GloveState([0, 1, 2], [1, 0], [3.0, 3.0], torch.ones(2, 3),
                                      torch.ones(2, 3)),),
    "lda_sweep": (kernels.LdaState([0, 1], [0, 2], [0, 0], n_topics=2, n_words=2),),
    "subword_update": (kernels.SubwordState([0, 1], [0, 2], torch.eye(2), torch.eye(2), [1, 1],
                                            rows=[0, 1], row_offsets=[0, 1, 2]),),
    "window_update": (kernels.WindowState([0, 1], [0, 2], torch.eye(2), torch.eye(2), [1, 1]),),
}


@every_operation
def test_P27_every_operation_answers_a_wrong_backend_with_all_names(name):
    options = {"k": 1} if name == "knn" else {}
    getattr(kernels, name)(*CALLS[name], **options)
    for wrong in ("tritton", "", 5):
        for learns in (False, True):
            arguments = [x.clone().requires_grad_(learns) if isinstance(x, Tensor) else x
                         for x in CALLS[name]]
            with pytest.raises(ValueError, match=r"backend=.*Allowed: 'triton', 'cpu', 'refere"):
                getattr(kernels, name)(*arguments, backend=wrong, **options)


@needs_triton
@every_kernel
def test_every_kernel_is_compiled_in_both_types_and_has_a_block_table(name):
    gpu, rows = module(name, "gpu"), {(row.kernel, row.arch) for row in table()}
    jitted = {k for k, v in vars(gpu).items() if v.__class__.__name__ in
              ("JITFunction", "InterpretedFunction") and v.fn.__module__ == gpu.__name__}
    # the others are called by these
    started = {k for k in jitted if re.search(rf"\b{k}\[", inspect.getsource(gpu))}
    compiled = {(case.name, case.dtype) for case in gpu.COMPILE_CASES}
    types = TYPES[:1] if name in ONE_TYPE else TYPES
    assert compiled == {(kernel, dtype) for kernel in started for dtype in types}
    for kernel in started:
        assert (kernel, 0) in rows, f"{kernel}: no small tiles for the interpreter"
        assert (kernel, 80) in rows, f"{kernel}: no entry for sm_80"


@needs_triton
def test_no_block_table_names_a_kernel_that_is_gone():
    known = {case.name for name in WITH_KERNEL for case in module(name, "gpu").COMPILE_CASES}
    assert {row.kernel for row in table()} == known


@needs_triton
@every_kernel
def test_only_racing_kernels_use_atomics_and_all_state_other_and_note_every_launch(name):
    tree = ast.parse((ROOM / name / "gpu.py").read_text("utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    assert any("atomic" in ast.unparse(call.func) for call in calls) == (name in RACING)
    for call in calls:
        keywords = {keyword.arg for keyword in call.keywords}
        where = f"{name}/gpu.py:{call.lineno}"
        if ast.unparse(call.func) == "tl.load" and "mask" in keywords:
            assert "other" in keywords, f"{where}: a masked load without other"
        if ast.unparse(call.func) == "tl.dot":
            assert "input_precision" in keywords, f"{where}: a product without input_precision"
    for function in [n for n in tree.body if isinstance(n, ast.FunctionDef)]:
        inside = [n for n in ast.walk(function) if isinstance(n, ast.Call)]
        launches = any(isinstance(call.func, ast.Subscript) for call in inside)
        assert launches == any(ast.unparse(call.func) == "launched" for call in inside)


def test_a_wrong_shape_in_a_call_of_a_formula_raises():
    """The shapes on the formulas are checked in every test run, whichever tests are run."""
    from lessons_lib.kernels.uniformity.reference import uniformity

    alignment = module("alignment").reference_alignment
    assert uniformity(torch.eye(3), t=2.0).shape == ()
    for call in (lambda: uniformity(torch.ones(3), t=2.0),
                 lambda: uniformity(torch.ones(3, 3, dtype=torch.int64), t=2.0),
                 lambda: alignment(torch.ones(3, 2), torch.ones(4, 2), alpha=2.0)):
        with pytest.raises(TypeCheckError):
            call()


@every_operation
def test_the_shapes_of_every_formula_are_checked(name):
    """Each is wrapped by the hooks that conftest.py installs."""
    for function in dispatched(name):
        formula = module(name).OPERATION.implementation("reference", function)
        assert hasattr(formula, "__wrapped__"), f"{name}: shapes of {function} are not checked"
        assert re.search(r"\[Tensor, ", str(inspect.signature(formula)))
