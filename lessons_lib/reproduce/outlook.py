"""The outlook: auto-encoding against contrastive learning at an equal budget, and cut vectors.

No paper has a table of this for so small a model; what the papers report is quoted where it can be
compared. Every training sees the same number of sentences in the same number of steps. Discussed in
lesson ``16_outlook``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..contextual.encoder import ContextualEncoder
from ..contrastive import AutoEncoding, CoSent, Matryoshka, SimCse, Truncation
from ..core import Encoder, generator
from ..counts.named import sample_sentences
from ..datasets import load
from ..isotropy import Whitening
from ..plots import cut_curves, race_dots
from .entry import COURSE, Entry, Rows, Series, declared
from .models import CONTROL, control_of, model_of, with_encoder
from .simcse_texts import texts_of
from .trained import PLACES, SD, paired_spearman, quiet, spearman_by_set, trained_rows

__all__ = ["ENTRIES", "budget_texts", "nested_by", "trained_by"]

SHARED = "outlook"  # the folder of the trainings
TEST = PLACES.index("stsb")
AS_IT_IS = "as it is"
KINDS = {"STS-B sentences": "STS-B, train", "Wikipedia": "Wikipedia"}
WAYS = ("auto-encoding", "contrastive", "first one, then the other")
_, CONTRAST, BOTH = (f"{way}, STS-B sentences" for way in WAYS)
NESTED = ("SimCSE", "Matryoshka, no grades", "CoSENT", "Matryoshka")
GRADED = ("CoSENT", "Matryoshka")  # without dropout, which lesson 13 found to harm them
WHOLE = "Matryoshka, % of the whole"
SHORT = 20  # of 256 dimensions: 8 %
# lines that are dashed, in the colour of what they are to be compared with
DASHED = {"Matryoshka, no grades": "Matryoshka", AS_IT_IS + CONTROL: AS_IT_IS}

_BUDGET = {"sets": ["stsb dev", "stsb"], "kinds": list(KINDS)}
_ONE = {"sets": ["stsb"], "kinds": ["STS-B sentences"]}
_SMALL = {"steps": 2, "batch": 4, "seeds": 1}
_COURSE = {"steps": 30, "batch": 32, "seeds": 3}
_LARGE = {"steps": 2000, "batch": 64, "seeds": 3}
OBJECTIVES = with_encoder(_ONE | _SMALL, _BUDGET | _COURSE, _BUDGET | _LARGE)
_SIZES, _NESTED = [8, 16, 20, 32, 64, 128, 192, 256], [256, 128, 64, 32, 16]
SIZES = with_encoder(_SMALL | {"sizes": [20, 256], "nested": [256, 16], "n_fit": 600},
                     _COURSE | {"sizes": _SIZES, "nested": _NESTED, "n_fit": 4000},
                     _LARGE | {"sizes": [k * 3 for k in _SIZES], "nested": [768, 512, 256, 128, 64],
                               "n_fit": 20_000})


@functools.lru_cache(maxsize=2)
def _texts(kind: str) -> tuple[str, ...]:
    """All sentences of a kind: the articles of Wikipedia take seconds to be cut into them."""
    return tuple(texts_of(KINDS[kind]))


def budget_texts(kind: str, *, steps: int, batch: int, seed: int) -> list[str]:
    """As many sentences as a budget reads, drawn by the seed: the same for every way to learn."""
    texts = _texts(kind)
    return [texts[i] for i in generator(seed).permutation(len(texts))[: steps * batch]]


def trained_by(way: str, encoder: ContextualEncoder, texts: list[str], *, steps: int, batch: int,
               seed: int) -> Any:
    """A model trained by one of ``WAYS``, the last of which gives each of the others half."""
    common = {"batch_size": batch, "learning_rate": 2e-4, "dropout": 0.1, "pooling": "last",
              "seed": seed}
    head, half = "pretrained" if encoder.name == COURSE else "fresh", steps // 2
    with quiet():
        if way == "contrastive":
            return SimCse(encoder, head="none", steps=steps, **common).fit(texts)
        if way == "auto-encoding":
            return AutoEncoding(encoder, steps=steps, head=head, **common).fit(texts)
        first = AutoEncoding(encoder, steps=half, head=head, **common).fit(texts[: half * batch])
        second = SimCse(first.encoder_, head="none", steps=steps - half, **common)
        return second.fit(texts[half * batch :])


def _measure_objectives(settings: Mapping[str, Any], seed: int) -> Series:
    sets, budget = settings["sets"], {name: settings[name] for name in ("steps", "batch")}
    start = settings.get("encoder", COURSE)
    result: Rows = {}
    for ending, encoder in (("", model_of(start)), (CONTROL, control_of(start, seed))):
        encoder = encoder.set_params(pooling="first-last")
        result[AS_IT_IS + ending] = spearman_by_set(encoder, sets)
    for kind in settings["kinds"]:
        for way in WAYS:

            def train(encoder: ContextualEncoder, k: int, kind: str = kind, way: str = way) -> Any:
                own = budget | {"seed": k}
                model = trained_by(way, encoder, budget_texts(kind, **own), **own)
                return model.read_by("first-last")

            result |= trained_rows(f"{way}, {kind}", train, entry=SHARED, sets=sets,
                                   seeds=settings["seeds"], seed=seed, controls=1,
                                   settings=budget | {"kind": kind, "way": way, "encoder": start})
    return result


def _draw_objectives(entry: Entry, measured: Series) -> Any:
    """The test part of STS-B: a panel for each text to learn from, a row for each way to learn."""
    def panels(ending: str) -> dict[str, dict[str, tuple[float, float]]]:
        result: dict[str, dict[str, tuple[float, float]]] = {}
        for kind in (kind for kind in KINDS if f"{WAYS[0]}, {kind}" in measured):
            rows = {AS_IT_IS: AS_IT_IS + ending}
            rows |= {way: f"{way}, {kind}{ending}" for way in WAYS}
            result[f"learned from {kind}"] = {
                way: (measured[row][TEST], measured.get(row + SD, {}).get(TEST, 0.0))
                for way, row in rows.items()}
        return result

    title = "The same sentences, the same number of steps: the text decides"
    own = {"controls": panels(CONTROL), "xlabel": "STS-B test, Spearman × 100"}
    return race_dots(panels(""), title=title, **own)


def nested_by(name: str, encoder: ContextualEncoder, *, steps: int, batch: int, nested: list[int],
              seed: int) -> Any:
    """A model trained as one of ``NESTED``, read by its last layer; ``nested`` sizes."""
    common = {"steps": steps, "batch_size": batch, "learning_rate": 2e-4, "pooling": "last",
              "seed": seed}
    with quiet():
        if name in GRADED:
            pairs = load("stsb", split="train")
            if name == "CoSENT":
                return CoSent(encoder, dropout=0.0, **common).fit(pairs)
            own = {"sizes": nested, "supervised": True, "dropout": 0.0}
            return Matryoshka(encoder, **own, **common).fit(pairs)
        texts = budget_texts("STS-B sentences", steps=steps, batch=batch, seed=seed)
        if name == "SimCSE":
            return SimCse(encoder, head="none", **common).fit(texts)
        return Matryoshka(encoder, sizes=nested, **common).fit(texts)


def _by_size(encoder: Encoder, sizes: list[int]) -> dict[float, float]:
    """Spearman x 100 on the test part of STS-B with the first dimensions alone."""
    pairs = load("stsb")
    with quiet():
        vectors = encoder.encode(pairs.sentence1 + pairs.sentence2)
    width = vectors.shape[1]  # whitening leaves a direction out
    cut = {k: Truncation(min(k, width)).transform(vectors) for k in sizes}
    return {k: paired_spearman(x, pairs.score) for k, x in cut.items()}


def _whitened(encoder: ContextualEncoder, n: int) -> Encoder:
    """An encoder whose dimensions are its whitened directions, the strongest first."""
    texts = sample_sentences()
    some = [texts[i] for i in generator(0).permutation(len(texts))[:n]]
    with quiet():
        return encoder | Whitening().fit(encoder.encode(some).astype(np.float64))


def _measure_sizes(settings: Mapping[str, Any], seed: int) -> Series:
    sizes, start = settings["sizes"], settings.get("encoder", COURSE)
    budget = {name: settings[name] for name in ("steps", "batch", "nested")}
    raw = model_of(start)
    result = {AS_IT_IS: _by_size(raw, sizes),
              AS_IT_IS + CONTROL: _by_size(control_of(start, seed), sizes),
              "whitened": _by_size(_whitened(raw, settings["n_fit"]), sizes)}
    for name in NESTED:
        dropout = 0.0 if name in GRADED else 0.1
        decides = {"way": name, "sizes": sizes, "encoder": start, "dropout": dropout}
        result |= trained_rows(
            name, lambda encoder, k, name=name: nested_by(name, encoder, **budget, seed=k),
            entry=SHARED, settings=budget | decides, seeds=settings["seeds"], seed=seed,
            controls=0, score=lambda model: {"": _by_size(model, sizes)})
    nested = result["Matryoshka"]
    whole = nested[max(sizes)]
    return result | {WHOLE: {k: 100 * score / whole for k, score in nested.items()}}


def _short(m: Series) -> float:
    """The measured size nearest to 8 % of the largest: encoders have other widths."""
    whole = max(m["Matryoshka"])
    return min(m["Matryoshka"], key=lambda k: abs(k / whole - SHORT / 256))


ENTRIES = (
    declared("outlook_objectives", _measure_objectives, _draw_objectives, OBJECTIVES,
             both_help=lambda m: m[BOTH][TEST] > m[CONTRAST][TEST],
             # no, where Wikipedia was not read
             wikipedia=lambda m: m.get("contrastive, Wikipedia", {}).get(TEST, 0.0)
             > m.get("auto-encoding, Wikipedia", {}).get(TEST, 0.0)),
    declared("outlook_sizes", _measure_sizes, lambda entry, m: cut_curves(
        {name: tuple(zip(*sorted(m[name].items()), strict=True))
         for name in ("Matryoshka", "CoSENT", "SimCSE", AS_IT_IS, "whitened", *DASHED)},
        title="What a vector is worth when it is cut short", ylabel="STS-B test, Spearman × 100",
        like=DASHED), SIZES,
             little=lambda m: m["Matryoshka"][max(m["Matryoshka"])]
             > m["CoSENT"][max(m["CoSENT"])] - 1.0,
             whole=lambda m: m[WHOLE][_short(m)] >= 97.5,
             short=lambda m: m["Matryoshka"][_short(m)] > m["CoSENT"][_short(m)]),
)
