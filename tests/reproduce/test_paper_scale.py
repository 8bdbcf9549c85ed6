"""The papers' own setting: with a checkpoint of bert-base-uncased on the machine the same commands measure it; here its weights are drawn by chance.

The checkpoint has the exact architecture and lies where the Hugging Face hub keeps it, so that its plain name finds it. Fewer texts are read, no
other setting that would change the way is changed. What comes out is compared with ``transformers`` where a number can be.
"""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from lessons_lib import cli
from lessons_lib.core import external_data_folder
from lessons_lib.datasets import load
from lessons_lib.reproduce import anisotropy, entries, outlook, rounding_grid, run, trained
from lessons_lib.reproduce.models import PAPER
from lessons_lib.reproduce.settings import settings_of
from lessons_lib.reproduce.trained import SD

pytestmark = [pytest.mark.slow, pytest.mark.data]
FEW = ("--set", "sets=stsb", "--set", "pairs=24", "--set", "seeds=1")


def pieces(folder: Path) -> None:
    """The tokenizer of bert-base-uncased where it is here, else one of as many pieces, most of which stand for nothing."""
    own = (external_data_folder() or folder) / "models" / "bert-base-uncased-tokenizer"
    if own.is_dir():
        for name in ("vocab.txt", "tokenizer_config.json"):
            shutil.copy(own / name, folder / name)
        return
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,'-"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join([*words, *(f"[unused{i}]" for i in range(30_522 - len(words)))]) + "\n", "utf-8")


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """A cache of the hub that holds bert-base-uncased with drawn weights."""
    from transformers import BertConfig, BertModel

    cache = tmp_path_factory.mktemp("hub")
    repository = cache / f"models--{PAPER}"
    folder = repository / "snapshots" / ("0" * 40)
    folder.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = BertModel(BertConfig())
    assert (model.config.num_hidden_layers, model.config.hidden_size, model.config.vocab_size) == (12, 768, 30_522)
    model.save_pretrained(folder, safe_serialization=True)
    pieces(folder)
    return cache


@pytest.fixture
def reproduce(cache, monkeypatch, capsys, tmp_path, lessons_data):
    """Runs ``lessons reproduce ... --scale paper`` and gives the records, by id."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    for module, name in ((rounding_grid, "gathered"), (rounding_grid, "_vectors"), (anisotropy, "_layers")):
        kept = getattr(module, name)
        monkeypatch.setattr(module, name, functools.lru_cache(kept.cache_parameters()["maxsize"])(kept.__wrapped__))

    def call(*ids: str, few: tuple[str, ...] = FEW) -> dict[str, dict]:
        monkeypatch.setattr("sys.argv", ["lessons", "reproduce", *ids, "--scale", "paper", *few, "--out", str(tmp_path)])
        code = cli.main()
        said = capsys.readouterr()
        assert code in (0, 1) and f"{len(ids)} measured, 0 recorded before, 0 failed" in said.out, said.out[-2000:] + said.err
        found = {id: json.loads((tmp_path / f"{id}.json").read_text("utf-8")) for id in ids}
        assert all(record["scale"] == "paper" and record["settings"]["encoder"] == PAPER for record in found.values())
        assert all(any((tmp_path / f"{id}{end}").is_file() for end in (".svg", ".png")) for id in ids)
        return found

    return call


def rows(record: dict) -> dict[str, dict[float, float]]:
    return {name: dict(map(tuple, points)) for name, points in record["measured"].items()}


def by_transformers(cache: Path, n: int) -> dict[str, float]:
    """Spearman x 100 on the first pairs of STS-B, of the mean over tokens of the last layer, and of the first block averaged with it."""
    from transformers import BertModel, BertTokenizer

    folder = next((cache / f"models--{PAPER}" / "snapshots").iterdir())
    model, tokenizer, pairs = BertModel.from_pretrained(folder).eval(), BertTokenizer.from_pretrained(folder), load("stsb")
    batch = tokenizer([*pairs.sentence1[:n], *pairs.sentence2[:n]], return_tensors="pt", padding=True)
    with torch.no_grad():
        states = model(**batch, output_hidden_states=True).hidden_states
    mask = batch["attention_mask"][..., None]
    found = {}
    for name, state in {"last": states[-1], "first-last": (states[1] + states[-1]) / 2}.items():
        z = torch.nn.functional.normalize((state * mask).sum(1) / mask.sum(1), dim=1)
        found[name] = 100 * spearmanr((z[:n] * z[n:]).sum(1).double().numpy(), pairs.score[:n])[0]
    return found


def test_the_tables_about_raw_bert_are_those_that_transformers_gives(reproduce, cache):
    found = reproduce("reimers2019_table1_raw", "gao2021_first_last")
    expected = by_transformers(cache, 24)
    assert rows(found["reimers2019_table1_raw"])["BERT, mean"][5.0] == pytest.approx(expected["last"], abs=0.3)      # a rank may change by rounding
    assert rows(found["gao2021_first_last"])["h1 + hL"][5.0] == pytest.approx(expected["first-last"], abs=0.3)
    assert {"BERT, mean, untrained", "BERT, [CLS]", "mean of GloVe"} <= set(found["reimers2019_table1_raw"]["measured"])


def test_anisotropy_is_measured_in_all_thirteen_layers_and_pictures_name_the_model(reproduce, tmp_path):
    figures = [f"ethayarajh2019_figure{k}" for k in range(1, 5)]
    found = reproduce(*figures, "gao2019_figure1", "gao2019_spectrum", "li2020_table1", few=("--set", "sentences=30", "--set", "points=100"))
    for id in figures:
        for name in ("LessonBERT", "start weights"):
            assert sorted(rows(found[id])[name]) == list(range(13)) and np.isfinite(list(rows(found[id])[name].values())).all()
    assert f"{PAPER} and its start weights" in (tmp_path / f"{figures[0]}.svg").read_text("utf-8")
    # Weights drawn by chance lie around the origin, twice.
    cones = rows(found["gao2019_figure1"])
    assert max(abs(cones[f"mean cosine, {name}"][0.0]) for name in ("LessonBERT", "start weights")) < 0.02


def test_the_tables_of_flow_and_whitening_are_measured(reproduce, monkeypatch):
    monkeypatch.setattr(rounding_grid, "THIRD", 1 / 64)              # so few sentences span fewer directions than a third of 768
    ids = ("li2020_table2", "su2021_table1", "su2022_parameters", "su2022_surface", "gao2021_aggregation", "li2020_calibration", "li2020_lexical")
    few = (*FEW, "--set", "n_nli=12", "--set", "flow_seeds=1", "--set", "flows=flow", "--set", "steps=0,1")
    found = reproduce(*ids, few=few)
    for id in ids:
        assert set(entries()[id].printed) <= set(rows(found[id])), id
        assert np.isfinite([y for row in rows(found[id]).values() for y in row.values()]).all()
    table, surface = rows(found["su2022_parameters"]), rows(found["su2022_surface"])
    assert table["β = γ = 0"][5.0] == pytest.approx(table["as they are"][5.0], abs=0.3)
    assert surface["test, 0 and 0"][0.0] == pytest.approx(table["as they are"][5.0], abs=0.3)


def test_a_checkpoint_in_a_folder_is_the_one_that_the_name_finds(reproduce, cache, tmp_path):
    folder = next((cache / f"models--{PAPER}" / "snapshots").iterdir())
    by_name = rows(reproduce("gao2021_first_last")["gao2021_first_last"])
    entry = entries()["gao2021_first_last"]
    settings = settings_of(entry, "paper", {"encoder": str(folder), "sets": "stsb", "pairs": "24", "seeds": "0"})
    assert run(entry, scale="paper", folder=tmp_path / "by folder", settings=settings).measured["h1 + hL"] == pytest.approx(by_name["h1 + hL"])


# ------------------------------------------------------------------------------------------------ entries that train


@pytest.fixture
def short(monkeypatch):
    """Sets of 24 pairs for what is scored after a training."""
    def cut(name, **options):
        found = load(name, **options)
        return found.select(np.arange(24)) if hasattr(found, "score") and len(found) > 24 else found

    for module in (trained, outlook):
        monkeypatch.setattr(module, "load", cut)


TRAINING = {
    "sbert": (("reimers2019_tables1_2",),
              {"steps": 1, "batch": 4, "seeds": 1, "controls": 0, "words": 10, "sets": "stsb", "sources": "snli_devtest"}),
    "cosent": (("cosent_stsb",), {"batch_size": 4, "epochs": 0.5, "n_train": 8, "n_dev": 12, "n_test": 24, "seeds": 1}),
    "simcse": (("gao2021_temperature", "gao2021_table5"),
               {"training.sentences": "STS-B, train", "training.n": 8, "training.batch_size": 4, "training.precision": "float32",
                "supervised.batch_size": 4, "supervised.epochs": 1, "n_pairs": 24, "n_dev": 28, "seeds": 1, "sets": "stsb",
                "only": "SimCSE,τ = 0.01,τ = 1"}),
    "outlook": (("outlook_objectives",), {"steps": 2, "batch": 4, "seeds": 1, "sets": "stsb", "kinds": "STS-B sentences"})}


@pytest.mark.parametrize("family", TRAINING)
def test_what_is_trained_begins_with_the_paper_s_model(reproduce, short, family):
    ids, few = TRAINING[family]
    found = reproduce(*ids, few=tuple(word for key, value in few.items() for word in ("--set", f"{key}={value}")))
    for id in ids:
        values = [y for name, row in rows(found[id]).items() if not name.endswith(SD) for y in row.values()]
        assert len(values) > 2 and np.isfinite(np.array(values, dtype=float)).all()
