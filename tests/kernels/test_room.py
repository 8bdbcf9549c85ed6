"""The room: each operation holds what a reader expects to find in its folder, under the same names."""

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

ROOM = PROJECT / "lessons_lib" / "kernels"
FOLDERS = sorted(path.parent for path in ROOM.glob("*/__init__.py"))
NAMES = [folder.name for folder in FOLDERS]
WITH_KERNEL = operations_with_kernels()
HAS_TRITON = importlib.util.find_spec("triton") is not None
needs_triton = pytest.mark.skipif(not HAS_TRITON, reason="Triton has no wheel for this system")
TYPES = ("float32", "bfloat16")
ONE_TYPE = {"glove_step", "lda_sweep", "window_update"}      # models and counts are float32, whatever comes in
RACING = {"window_update"}                      # its programs add to the same rows; it refuses to be deterministic


def module(name: str, part: str = ""):
    return importlib.import_module(f"lessons_lib.kernels.{name}" + (f".{part}" if part else ""))


def dispatched(name: str) -> list[str]:
    """The functions that the public one asks its implementations for, read from the text: OPERATION.run("…", …)."""
    tree = ast.parse((ROOM / name / "__init__.py").read_text("utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "OPERATION.run"]
    return sorted({call.args[0].value for call in calls})


def signature(function) -> str:
    """Names, kinds, defaults and types; a shape in an annotation is left out, because only the formula states it."""
    text = re.sub(r"[\"'\\]", "", str(inspect.signature(function)))
    return re.sub(r"\b[A-Z]\w*\[Tensor, [^\[\]]*\]", "Tensor", text)


def parts(name: str) -> list[str]:
    return ["reference", "cpu"] + (["gpu"] if name in WITH_KERNEL and HAS_TRITON else [])


def test_the_walk_finds_operations_and_no_empty_folder():
    assert len(NAMES) >= 10 and {"uniformity", "info_nce", "knn"} <= set(NAMES)
    sources = {path.parent.name for path in ROOM.glob("*/*.py")}
    assert sources == set(NAMES), "a folder without __init__.py"


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_has_formula_processor_path_and_tests(name):
    for part in ("reference", "cpu"):
        assert (ROOM / name / f"{part}.py").exists()
    assert (Path(__file__).parent / f"test_{name}.py").exists()
    assert dispatched(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_operation_knows_its_name_and_whether_it_has_a_kernel(name):
    operation = module(name).OPERATION
    assert operation.name == name
    assert operation.kernel == (ROOM / name / "gpu.py").exists() == (ROOM / name / "configs.json").exists() == (not operation.without)


@pytest.mark.parametrize("name", NAMES)
def test_all_implementations_have_the_same_functions_with_the_same_signature(name):
    for function in dispatched(name):
        found = {part: signature(getattr(module(name, part), function)) for part in parts(name)}
        assert len(set(found.values())) == 1, f"{function}: {found}"
        for part in parts(name):
            assert function in module(name, part).__all__, f"{function} is missing in __all__ of {part}.py"


def test_the_comparison_of_signatures_sees_names_defaults_and_types_but_no_shapes():
    def one(x: Float[Tensor, "n d"], *, k: int = 2) -> tuple[Tensor, Float[Tensor, ""]]: ...
    def two(x: Tensor, *, k: int = 2) -> tuple[Tensor, Tensor]: ...
    def three(x: Tensor, *, k: int = 3) -> tuple[Tensor, Tensor]: ...
    def four(y: Tensor, *, k: int = 2) -> tuple[Tensor, Tensor]: ...

    assert signature(one) == signature(two) == "(x: Tensor, *, k: int = 2) -> tuple[Tensor, Tensor]"
    assert len({signature(function) for function in (two, three, four)}) == 3


@pytest.mark.parametrize("name", NAMES)
def test_the_public_function_is_exported_and_takes_a_backend(name):
    public = getattr(kernels, name)
    assert name in kernels.__all__ and name in module(name).__all__ and public is getattr(module(name), name)
    assert inspect.signature(public).parameters["backend"].default is None
    assert inspect.signature(public).parameters["backend"].kind is inspect.Parameter.KEYWORD_ONLY


CALLS = {                                       # a small valid call of each public function
    "alignment": ([[1.0, 0.0]], [[0.0, 1.0]]), "cosent": ([0.5, 0.1], [1, 0]), "info_nce": (torch.eye(2), torch.eye(2)),
    "knn": (torch.eye(2), torch.eye(2)), "mean_cosine": (torch.eye(3),), "mean_covariance": (torch.eye(3),), "pool": (torch.ones(1, 2, 3), [[1, 1]]),
    "document_update": (kernels.DocumentState([0, 1], [0, 2], torch.ones(4, 2), torch.eye(2), [1, 1], tags=[0], tag_offsets=[0, 1]),),
    "glove_step": (kernels.GloveState([0, 1, 2], [1, 0], [3.0, 3.0], torch.ones(2, 3), torch.ones(2, 3)),),
    "lda_sweep": (kernels.LdaState([0, 1], [0, 2], [0, 0], n_topics=2, n_words=2),), "ranks": ([3.0, 1.0],),
    "segment_moments": (torch.eye(3), [0, 3]), "uniformity": (torch.eye(3),),
    "subword_update": (kernels.SubwordState([0, 1], [0, 2], torch.eye(2), torch.eye(2), [1, 1], rows=[0, 1], row_offsets=[0, 1, 2]),),
    "window_update": (kernels.WindowState([0, 1], [0, 2], torch.eye(2), torch.eye(2), [1, 1]),),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", ["tritton", "", 5])
def test_P27_every_operation_answers_a_wrong_backend_with_all_names(name, wrong):
    options = {"k": 1} if name == "knn" else {}
    getattr(kernels, name)(*CALLS[name], **options)
    for gradient in (False, True):
        arguments = [x.clone().requires_grad_(gradient) if isinstance(x, Tensor) else x for x in CALLS[name]]
        with pytest.raises(ValueError, match=r"backend=.* is unknown.*Allowed: 'triton', 'cpu', 'reference'"):
            getattr(kernels, name)(*arguments, backend=wrong, **options)


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_measures_it(name):
    texts = [path.read_text("utf-8") for path in sorted((PROJECT / "lessons_lib" / "bench").glob("kernels*.py"))]
    assert any(re.search(rf"\b{name}\b", text) for text in texts), f"no case names {name} in lessons_lib/bench/kernels*.py"


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_states_formula_errors_and_lesson(name):
    assert "Raises" in getattr(kernels, name).__doc__ and re.search(r"``\d\d_\w+``", module(name).__doc__)


def test_public_names_are_sorted_and_exist():
    names = [name for name in kernels.__all__ if name not in kernels.BACKENDS]
    assert names == sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n))
    assert all(hasattr(kernels, name) for name in names)


# ------------------------------------------------------------------------------------------------ kernels


@needs_triton
@pytest.mark.parametrize("name", WITH_KERNEL)
def test_every_kernel_is_compiled_in_both_types_and_has_a_block_table(name):
    gpu, rows = module(name, "gpu"), {(row.kernel, row.arch) for row in table()}
    jitted = {k for k, v in vars(gpu).items() if type(v).__name__ in ("JITFunction", "InterpretedFunction") and v.fn.__module__ == gpu.__name__}
    started = {k for k in jitted if re.search(rf"\b{k}\[", inspect.getsource(gpu))}            # the others are called by these
    compiled = {(case.name, case.dtype) for case in gpu.COMPILE_CASES}
    assert {kernel for kernel, _ in compiled} == started
    assert compiled == {(kernel, dtype) for kernel in started for dtype in (TYPES[:1] if name in ONE_TYPE else TYPES)}
    for kernel in started:
        assert (kernel, 0) in rows, f"{kernel}: no small tiles for the interpreter"
        assert (kernel, 80) in rows, f"{kernel}: no entry for sm_80"
    assert {kernel for kernel, _ in rows if kernel.startswith(tuple(jitted))} <= started


@needs_triton
def test_no_block_table_names_a_kernel_that_is_gone():
    known = {case.name for name in WITH_KERNEL for case in module(name, "gpu").COMPILE_CASES}
    assert {row.kernel for row in table()} == known


@needs_triton
@pytest.mark.parametrize("name", WITH_KERNEL)
def test_only_racing_kernels_use_atomics_and_all_state_other_and_note_every_launch(name):
    tree = ast.parse((ROOM / name / "gpu.py").read_text("utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    named = [ast.unparse(call.func) for call in calls]
    assert bool([call for call in named if "atomic" in call]) == (name in RACING)
    for call in calls:
        keywords = {keyword.arg for keyword in call.keywords}
        if ast.unparse(call.func) == "tl.load" and "mask" in keywords:
            assert "other" in keywords, f"{name}/gpu.py:{call.lineno}: a masked load without other"
        if ast.unparse(call.func) == "tl.dot":
            assert "input_precision" in keywords, f"{name}/gpu.py:{call.lineno}: a product without input_precision"
    launches = [call for call in calls if isinstance(call.func, ast.Subscript)]
    assert len(launches) == named.count("launched") > 0


# ------------------------------------------------------------------------------------------------ shapes


def test_a_wrong_shape_in_a_call_of_a_formula_raises():
    """The shapes written in reference.py are checked in every test run, whichever part of the tests is run."""
    from lessons_lib.kernels.alignment import reference as alignment
    from lessons_lib.kernels.uniformity import reference as uniformity

    assert uniformity.uniformity(torch.eye(3), t=2.0).shape == ()
    for call in (lambda: uniformity.uniformity(torch.ones(3), t=2.0), lambda: uniformity.uniformity(torch.ones(3, 3, dtype=torch.int64), t=2.0),
                 lambda: alignment.alignment(torch.ones(3, 2), torch.ones(4, 2), alpha=2.0)):
        with pytest.raises(TypeCheckError, match=r"reference\.(uniformity|alignment)"):
            call()


@pytest.mark.parametrize("name", NAMES)
def test_the_shapes_of_every_formula_are_checked(name):
    """Each function that dispatch calls is wrapped by the hook that conftest.py installs before the module is imported."""
    for function in dispatched(name):
        found = getattr(module(name, "reference"), function)
        assert hasattr(found, "__wrapped__"), f"{name}: the shapes of {function} are not checked"
        assert re.search(r"\[Tensor, ", str(inspect.signature(found))), f"{name}: {function} states no shape"
