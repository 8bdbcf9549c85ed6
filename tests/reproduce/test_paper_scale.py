"""The papers' own setting, with a bert-base-uncased whose weights are drawn by chance.

It has the exact architecture and lies where the Hugging Face hub keeps it, so that its plain name
finds it. Fewer texts are read; no other setting that would change the way is changed. What comes
out is compared with ``transformers`` where a number can be.
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
from lessons_lib.reproduce import (
    anisotropy, entries, one_network, outlook, rounding_grid, run, trained)
from lessons_lib.reproduce.models import PAPER
from lessons_lib.reproduce.settings import settings_of
from lessons_lib.reproduce.trained import SD

pytestmark = [pytest.mark.slow, pytest.mark.data]
FEW = ("--set", "sets=stsb", "--set", "pairs=24", "--set", "seeds=1")


def put_tokenizer(folder: Path) -> None:
    """That of bert-base-uncased where it is here, else one of as many tokens, most unused."""
    own = (external_data_folder() or folder) / "models" / "bert-base-uncased-tokenizer"
    if own.is_dir():
        for name in ("vocab.txt", "tokenizer_config.json"):
            shutil.copy(own / name, folder / name)
        return
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,'-"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    words += [f"##{letter}" for letter in letters]
    words += [f"[unused{i}]" for i in range(30_522 - len(words))]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", "utf-8")


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
    size = model.config
    assert (size.num_hidden_layers, size.hidden_size, size.vocab_size) == (12, 768, 30_522)
    model.save_pretrained(folder, safe_serialization=True)
    put_tokenizer(folder)
    return cache


@pytest.fixture
def reproduce(cache, monkeypatch, capsys, tmp_path, lessons_data):
    """Runs ``lessons reproduce ... --scale paper`` and gives the records, by id."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    cached = ((rounding_grid, "gathered"), (rounding_grid, "_vectors"), (anisotropy, "_layers"))
    for module, name in cached:
        kept = getattr(module, name)
        size = kept.cache_parameters()["maxsize"]
        monkeypatch.setattr(module, name, functools.lru_cache(size)(kept.__wrapped__))

    def call(*ids: str, few: tuple[str, ...] = FEW) -> dict[str, dict]:
        where = ("--scale", "paper", *few, "--out", str(tmp_path))
        monkeypatch.setattr("sys.argv", ["lessons", "reproduce", *ids, *where])
        code, said = cli.main(), capsys.readouterr()
        counted = f"{len(ids)} measured, 0 recorded before, 0 failed"
        assert code in (0, 1) and counted in said.out, said.out[-2000:] + said.err
        records = {id: json.loads((tmp_path / f"{id}.json").read_text("utf-8")) for id in ids}
        for id, record in records.items():
            assert record["scale"] == "paper" and record["settings"]["encoder"] == PAPER
            assert any((tmp_path / f"{id}{end}").is_file() for end in (".svg", ".png"))
        return records
    return call


def rows(record: dict) -> dict[str, dict[float, float]]:
    return {name: dict(map(tuple, points)) for name, points in record["measured"].items()}


def by_transformers(cache: Path, n: int) -> dict[str, float]:
    """Spearman x 100 on the first pairs of STS-B, of the last layer and of "first-last"."""
    from transformers import BertModel, BertTokenizer
    folder = next((cache / f"models--{PAPER}" / "snapshots").iterdir())
    model, pairs = BertModel.from_pretrained(folder).eval(), load("stsb")
    texts = [*pairs.sentence1[:n], *pairs.sentence2[:n]]
    batch = BertTokenizer.from_pretrained(folder)(texts, return_tensors="pt", padding=True)
    with torch.no_grad():
        states = model(**batch, output_hidden_states=True).hidden_states
    mask, scores = batch["attention_mask"][..., None], {}
    for name, state in {"last": states[-1], "first-last": (states[1] + states[-1]) / 2}.items():
        z = torch.nn.functional.normalize((state * mask).sum(1) / mask.sum(1), dim=1)
        cosines = (z[:n] * z[n:]).sum(1).double().numpy()
        scores[name] = 100 * spearmanr(cosines, pairs.score[:n])[0]
    return scores


def test_the_tables_about_raw_bert_are_those_of_transformers_by_name_or_folder(
        reproduce, cache, tmp_path):
    raw, first_last = map(rows, reproduce("reimers2019_table1_raw", "gao2021_first_last").values())
    expected = by_transformers(cache, 24)  # a rank may change by rounding
    assert raw["BERT, mean"][5.0] == pytest.approx(expected["last"], abs=0.3)
    assert first_last["h1 + hL"][5.0] == pytest.approx(expected["first-last"], abs=0.3)
    assert {"BERT, mean, untrained", "BERT, [CLS]", "mean of GloVe"} <= set(raw)
    folder = next((cache / f"models--{PAPER}" / "snapshots").iterdir())
    entry = entries()["gao2021_first_last"]
    given = {"encoder": str(folder), "sets": "stsb", "pairs": "24", "seeds": "0"}
    outcome = run(entry, scale="paper", folder=tmp_path / "by folder",
                  settings=settings_of(entry, "paper", given))
    assert outcome.measured["h1 + hL"] == pytest.approx(first_last["h1 + hL"])


def test_anisotropy_is_measured_in_all_layers_and_pictures_name_the_model(reproduce, tmp_path):
    figures = [f"ethayarajh2019_figure{k}" for k in range(1, 5)]
    few = ("--set", "sentences=30", "--set", "points=100")
    tables = ("gao2019_figure1", "gao2019_spectrum", "li2020_table1")
    records = reproduce(*figures, *tables, few=few)
    cones, names = rows(records["gao2019_figure1"]), ("LessonBERT", "start weights")
    for row in (rows(records[id])[name] for id in figures for name in names):
        assert sorted(row) == list(range(13)) and np.isfinite(list(row.values())).all()
    picture = (tmp_path / f"{figures[0]}.svg").read_text("utf-8")
    assert f"{PAPER} and its start weights" in picture
    # weights drawn by chance lie around the origin, twice
    assert max(abs(cones[f"mean cosine, {name}"][0.0]) for name in names) < 0.02


def test_the_tables_of_flow_and_whitening_are_measured(reproduce, monkeypatch):
    # so few sentences span fewer directions than a third of 768
    monkeypatch.setattr(rounding_grid, "THIRD", 1 / 64)
    ids = ("li2020_table2", "su2021_table1", "su2022_parameters", "su2022_surface",
           "gao2021_aggregation", "li2020_calibration", "li2020_lexical")
    settings = ("n_nli=12", "flow_seeds=1", "flows=flow", "steps=0,1")
    few = (*FEW, *(word for setting in settings for word in ("--set", setting)))
    measured = {id: rows(record) for id, record in reproduce(*ids, few=few).items()}
    for id, series in measured.items():
        assert set(entries()[id].printed) <= set(series), id
        assert np.isfinite([y for row in series.values() for y in row.values()]).all()
    table, surface = measured["su2022_parameters"], measured["su2022_surface"]
    assert table["β = γ = 0"][5.0] == pytest.approx(table["as they are"][5.0], abs=0.3)
    assert surface["test, 0 and 0"][0.0] == pytest.approx(table["as they are"][5.0], abs=0.3)


@pytest.fixture
def short(monkeypatch):
    """Sets of 24 pairs for what is scored after a training."""
    def cut(name, **options):
        pairs = load(name, **options)
        return pairs.select(np.arange(min(24, len(pairs)))) if hasattr(pairs, "score") else pairs

    for module in (trained, outlook):
        monkeypatch.setattr(module, "load", cut)


TRAINING = {
    "sbert": (("reimers2019_tables1_2",), {
        "steps": 1, "batch": 4, "seeds": 1, "controls": 0, "words": 10, "sets": "stsb",
        "sources": "snli_devtest"}),
    "cosent": (("cosent_stsb",), {
        "batch_size": 4, "epochs": 0.5, "n_train": 8, "n_dev": 12, "n_test": 24, "seeds": 1}),
    "simcse": (("gao2021_temperature", "gao2021_table5"), {
        "training.sentences": "STS-B, train", "training.n": 8, "training.batch_size": 4,
        "training.precision": "float32", "supervised.batch_size": 4, "supervised.epochs": 1,
        "n_pairs": 24, "n_dev": 28, "seeds": 1, "sets": "stsb", "only": "SimCSE,τ = 0.01,τ = 1"}),
    "one network": (("reimers2019_one_network",), {
        **{f"{group}.{key}": value for group in one_network.GROUPS
           for key, value in (("steps", 1), ("batch_size", 4))},
        "all.precision": "float32", "n_pairs": 24, "seeds": 1, "controls": 0}),
    "outlook": (("outlook_objectives",), {
        "steps": 2, "batch": 4, "seeds": 1, "sets": "stsb", "kinds": "STS-B sentences"})}


@pytest.mark.parametrize("family", TRAINING)
def test_what_is_trained_begins_with_the_paper_s_model(reproduce, short, family):
    ids, settings = TRAINING[family]
    few = tuple(word for key, value in settings.items() for word in ("--set", f"{key}={value}"))
    for record in reproduce(*ids, few=few).values():
        series = {name: row for name, row in rows(record).items() if not name.endswith(SD)}
        values = [y for row in series.values() for y in row.values()]
        assert len(values) > 2 and np.isfinite(np.array(values, dtype=float)).all()
