"""How much one reads to change a capability, and that the measure of it is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons_lib.house import closure, imported, rooms

GROWTH = 1.1
MEASURED = {                     # module: files and lines of its import closure, at 100 columns
    "words.word2vec": (30, 5679),
    "topics.gibbs": (35, 7138),
    "isotropy.whitening": (17, 3775),
    "sentences.sif": (31, 6308),
    "contextual.encoder": (24, 5383),
    "counts.bag_of_words": (23, 4718),
    "kernels.uniformity": (7, 1196),
    "contrastive.simcse": (55, 10703),
    "classroom.grading": (14, 3542),
}


def test_no_capability_needs_a_tenth_more_than_when_it_was_measured():
    grown = []
    for module, (files, lines) in MEASURED.items():
        now = closure(module)
        if len(now.files) > GROWTH * files or now.lines > GROWTH * lines:
            grown.append(f"{module}: {len(now.files)} files and {now.lines:,} lines, "
                         f"were {files} and {lines:,}")
    assert not grown, (
        "These capabilities need more files or lines of the library than before:\n"
        + "\n".join(grown) + "\nlessons_lib.house.closure(module).files lists them: import what is "
        "needed from the file that defines it, take the one mechanism that core has for it, or "
        "inline a helper. Where the growth is worth it, write the new figures into MEASURED and "
        "say in the commit why")


# ------------------------------------------------------------------------------ a made-up package

SOURCES = {
    "__init__.py": "",
    "low/__init__.py": "from .one import first\nfrom .two import second as other\n",
    "low/one.py": "first = 1\n",
    "low/two.py": "from ..low import first\nsecond = first\n",
    "lazy/__init__.py": '_MODULE_OF = {"Thing": "thing", "deep": "inner"}\n'
                        '_HOME = {"parts": ("left", "right")}\n'
                        "def __getattr__(name): ...\n",
    "lazy/thing.py": "class Thing: ...\n",
    "lazy/parts.py": "left = right = 0\n",
    "lazy/inner/__init__.py": "from .end import deep\n",
    "lazy/inner/end.py": "deep = 0\n\n\n",
    "top/__init__.py": "own = 1\n",
    "top/by_name.py": "from ..low import other\n",
    "top/within.py": "def f():\n    from ..lazy import Thing\n    return Thing\n",
    "top/table.py": "from ..lazy import right, deep\n",
    "top/circle.py": "from .back import a\nb = 1\n",
    "top/back.py": "from .circle import b\na = 1\n",
    "top/itself.py": "from . import own\nfrom .. import low\n",
    "top/whole.py": "import made.low.one\nfrom made.lazy.thing import Thing\nimport os\n",
    "top/module.py": "from . import by_name\nfrom ..lazy import thing\n",
}


@pytest.fixture
def package(tmp_path) -> Path:
    for name, text in SOURCES.items():
        file = tmp_path / "made" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path / "made"


@pytest.mark.parametrize(("module", "expected"), [
    ("top.by_name", "low/two low/one"),           # passed on by a package that is not counted
    ("top.within", "lazy/thing"),                 # imported within a function
    ("top.table", "lazy/parts lazy/inner/end"),   # named in a table of __getattr__, either way
    ("top.circle", "top/back"),                   # two that import each other
    ("top.back", "top/circle"),
    ("top.itself", "top/__init__ low/__init__ low/one low/two"),       # packages themselves
    ("top.whole", "low/one lazy/thing"),          # by the package's own name
    ("top.module", "top/by_name low/two low/one lazy/thing"),          # modules of a package
    ("low.one", ""),
])
def test_a_closure_holds_the_files_that_define_what_is_imported(package, module, expected):
    found = closure(module, package=package)
    names = {file.relative_to(package).with_suffix("").as_posix() for file in found.files}
    assert names == {module.replace(".", "/"), *expected.split()}
    assert found.lines == sum(SOURCES[f"{name}.py"].count("\n") for name in names)


def test_rooms_are_drawn_by_their_imports(package):
    assert rooms(package) == {"lazy": {}, "low": {}, "top": {"low": 3, "lazy": 4}}
    assert imported(package / "top" / "within.py", package) == {package / "lazy" / "thing.py"}


def test_a_module_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"module='words.word3vec'.*'words.word2vec'"):
        closure("words.word3vec")
