"""What the first edition saved is read by this one, gives the same, and goes on to the same end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from .saved_models import FITS, FOLDER, MODELS, SETTINGS, Saved, arrays, settings_of

RESUMED = [name for name, saved in MODELS.items() if saved.resume is not None]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """As when the models were made."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def compare(found: dict[str, Any], name: str, prefix: str, tolerance: float) -> None:
    """Arrays of whole numbers are equal; others within a part of their largest number."""
    expected = {key: value for key, value in load_file(FOLDER / f"{name}.safetensors").items()
                if key.startswith("end.") == bool(prefix)}
    now = dict(arrays(found, prefix))
    assert now.keys() == expected.keys()
    for key, value in expected.items():
        assert now[key].shape == value.shape, f"{name}, {key}"
        if value.dtype.kind == "f":
            reach = tolerance * max(np.abs(value).max(initial=0.0), 1e-6)
            np.testing.assert_allclose(now[key], value, rtol=0, atol=reach, err_msg=key)
            assert now[key].dtype == value.dtype, f"{name}, {key}"
        else:
            np.testing.assert_array_equal(now[key], value, err_msg=key)


def same_at_the_end(name: str) -> bool:
    """Whether a run that goes on would change nothing, so that the test would show nothing."""
    saved = load_file(FOLDER / f"{name}.safetensors")
    pairs = [(value, saved[f"end.{key}"]) for key, value in saved.items() if f"end.{key}" in saved]
    return bool(pairs) and all(np.array_equal(a, b) for a, b in pairs)


def test_every_saved_folder_is_tried():
    unlike = [name for name in RESUMED if same_at_the_end(name)]
    assert not unlike, f"these runs were at their end when they were saved: {unlike}"
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()} | {"film"}
    assert folders == MODELS.keys() == json.loads(SETTINGS.read_text("utf-8")).keys()
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 1_000_000


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_the_first_edition_loads_and_gives_the_same(name):
    saved: Saved = MODELS[name]
    model = saved.load(FOLDER / name)
    compare(saved.outputs(model), name, "", saved.loaded)
    written, now = json.loads(SETTINGS.read_text("utf-8"))[name], settings_of(model)
    now["settings"] = json.loads(json.dumps(now["settings"]))
    lost = [key for key, value in written["settings"].items() if now["settings"].get(key) != value]
    lost += [key for key in written["attributes"] if not hasattr(model, key)]
    assert not lost, f"{name}: settings or attributes that the first edition had: {lost}"


@pytest.mark.parametrize("name", RESUMED)
def test_a_run_that_the_first_edition_left_goes_on_to_the_same_end(name, tmp_path):
    saved, place = MODELS[name], tmp_path / name
    shutil.copytree(FOLDER / name, place)
    end = saved.resume(saved.load(place), place)
    compare(saved.outputs(end), name, "end.", saved.resumed)


@pytest.mark.parametrize("name", FITS)
def test_a_run_from_the_beginning_gives_what_the_first_edition_got(name):
    saved = MODELS[name]
    compare(saved.outputs(FITS[name]()), name, "", max(saved.loaded, saved.resumed))
