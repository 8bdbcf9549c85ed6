"""The room's names: functions stay functions, whichever module was imported first."""

import os
import subprocess
import sys

import pytest

import lessons_lib as ll


def printed(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    return done.stdout.strip() or done.stderr


def test_functions_are_not_replaced_by_the_modules_of_the_same_name():
    import lessons_lib.counts.cooccurrence
    import lessons_lib.counts.ppmi  # noqa: F401

    assert callable(ll.counts.ppmi) and callable(ll.counts.cooccurrence)


def test_every_public_name_is_there_and_an_unknown_one_gets_the_list():
    for room in (ll.counts, ll.text, ll.topics, ll.isotropy):
        assert all(getattr(room, name) is not None for name in room.__all__)
        assert dir(room) == sorted(room.__all__)
        with pytest.raises(AttributeError, match=f"lessons_lib.{room.__name__.rsplit('.', 1)[1]} "
                                                 "has no 'Bag'; it has "):
            room.Bag


def test_opening_the_rooms_loads_nothing_heavy():
    assert printed("import sys, lessons_lib as ll; [dir(room) for room in (ll.counts, ll.text, "
                   "ll.topics, ll.isotropy)]; print([m for m in ('numba', 'scipy', 'sklearn', "
                   "'jieba', 'torch') if m in sys.modules])") == "[]"


def test_no_method_imports_scikit_learn():
    assert printed("import sys, lessons_lib as ll\n"
                   "for m in (ll.counts.OneHot, ll.counts.BagOfWords, ll.counts.TfIdf, "
                   "ll.counts.BM25): m().fit(['a cat'])\n"
                   "print('sklearn' in sys.modules)") == "False"
