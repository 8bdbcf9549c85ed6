"""The manifest: names, splits, paths that stay inside, and files that are no manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.datasets import dataset_names, registered
from lessons_lib.datasets.loading import LOADERS
from lessons_lib.datasets.registry import read_manifest, safe_path

PROMISED = ["stsb", "stsb-zh", "sts12", "sts13", "sts14", "sts15", "sts16", "sick", "zh-pairs", "nli", "course-sts", "course-nli",
            "wikipedia-sample", "lee", "wiki", "wiki-sentences", "20newsgroups", "agnews", "bbc", "imdb", "senteval", "wordsim353",
            "simlex999", "men", "rg65", "rareword", "analogies", "enwiki-frequencies", "glove-sample", "course-vectors", "course-frequencies",
            "contextual-statistics", "mc30", "mturk287", "wordsim353-sim", "wordsim353-rel"]


def test_every_promised_name_is_registered_with_a_loader_and_a_licence():
    assert set(PROMISED) <= set(dataset_names())
    for name in dataset_names():
        dataset = registered(name)
        assert dataset.kind in LOADERS and dataset.licence and dataset.origin and len(dataset.description) > 20, name
        assert dataset.default in (*dataset.splits, "all") and (dataset.files or dataset.bundled), name
        assert all(len(file.sha256) in (0, 64) and bool(file.sha256) == bool(file.bytes) for file in dataset.files), name


def test_P27_a_misspelt_name_gets_the_nearest_and_all_others():
    with pytest.raises(ValueError, match=r"name='stbs' is unknown. Did you mean 'stsb'\? Allowed: 'stsb', 'stsb-zh'"):
        registered("stbs")


@pytest.mark.parametrize("name", ["../stsb", "/etc/passwd", "stsb/../../x", "", None, 5, "st\x00sb"])
def test_F18_a_name_is_never_a_path(name):
    with pytest.raises(ValueError, match=r"name=.* is unknown"):
        registered(name)


@pytest.mark.parametrize("path", ["../x", "a/../x", "/x", "a//b", "C:/x", "a\\b",
                                  "a\x00b", "", ".", "a/.", "con", "a/NUL.txt", "x.", "a /b", "a|b", "a/"])
def test_F18_paths_that_could_lead_out_of_the_folder_are_refused(path):
    with pytest.raises(ValueError, match="is not allowed; expected plain names"):
        safe_path(path)


@pytest.mark.parametrize("path", ["sts/sts12.tsv", "topics/bbc_news.tsv.gz", "a-b/c.d_e"])
def test_plain_paths_are_allowed(path):
    assert safe_path(path) == path


def test_P27_an_unknown_split_gets_the_nearest():
    with pytest.raises(ValueError, match=r"split='tset' is unknown. Did you mean 'test'\? Allowed: 'train', 'dev', 'test', 'all'"):
        registered("stsb").checked_split("tset")


@pytest.mark.parametrize("text", ["", "not toml [", "format = 1", "format = 1\n[datasets.x]\n[files]", "format = 1\ndatasets = 3\nfiles = 4",
                                  'format = 1\n[files."a"]\nsize = 3\n[datasets]', 'format = 1\n[files]\n[datasets.x]\nfiles = ["missing"]'])
def test_F03_a_file_that_is_no_manifest_says_so(tmp_path: Path, text: str):
    path = tmp_path / "manifest.toml"
    path.write_text(text)
    with pytest.raises(DamagedFile, match=r"manifest\.toml is no dataset manifest: .*Restore it"):
        read_manifest(path)


def test_F05_a_newer_manifest_asks_for_an_upgrade(tmp_path: Path):
    path = tmp_path / "manifest.toml"
    path.write_text("format = 2\n[files]\n[datasets]")
    with pytest.raises(ValueError, match="has format 2, this version reads up to 1; upgrade"):
        read_manifest(path)


def test_F18_a_manifest_cannot_point_outside(tmp_path: Path):
    path = tmp_path / "manifest.toml"
    path.write_text('format = 1\n[files."../x"]\n[datasets]')
    with pytest.raises(ValueError, match=r"path='\.\./x' is not allowed"):
        read_manifest(path)
