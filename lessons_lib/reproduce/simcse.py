"""SimCSE (Gao, Yao and Chen 2021): augmentations, dropout, temperature, the plane, all STS sets.

The paper trains bert-base-uncased on a million sentences of Wikipedia. Here a bag of words learns
from the sentences of STS-B's train part, without their grades, until dev stops rising; in the
entries on dropout and pooling the course's LessonBERT does. Trainings differ from the plain one in
one thing each; several tables read the same ones, so each is done once and kept (`trained`).
Directions count, levels do not. Discussed in lesson ``14_simcse``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..contextual.encoder import ContextualEncoder
from ..contrastive import SimCse, augment
from ..core import check_choice, generator
from ..datasets import SentencePairs, load
from ..evaluation import alignment, uniformity
from ..isotropy import Whitening
from ..plots import singular_spectrum
from ..plots import plane_of_encoders, plane_of_trainings
from ..plots.labels import note
from ..plots.primitives import rectangle
from ..plots.style import GREY
from .entry import BAG, COURSE, Draw, Entry, Holds, Measure, Rows, Series, declared
from .models import CONTROL, PAPER, RANDOM, model_of
from .pictures import beside_paper, dots_of, gains, mean_dots
from .simcse_texts import CLASSES, PAIRS, SENTENCES, pairs_of, texts_of
from .trained import (
    PLACES, SD, SETS, paired_spearman, quiet, some_pairs, spearman_by_set, trained_rows)

__all__ = ["DEV", "ENTRIES", "VARIANTS"]

SHARED = "simcse"  # the folder of trainings that several entries read
DEV, UNSEEN = PLACES.index("stsb dev"), PLACES.index("stsb unseen")
UNSEEN_ROW = "unseen pairs: "  # begins rows of scores on test pairs without sentences of training
RAW = "not trained"
AXES_OF_FIGURE_2 = (-2.6, -1.6), (0.2, 0.4)  # uniformity and alignment; no point has a number
PAPER_BERT = "Gao et al. 2021, BERT-base"
LOOKS = ("dev", "alignment", "uniformity")  # Spearman x 100, and the two measures of the plane
MAIN = ("SimCSE", "supervised")  # what all tables share, and what is scored on all sets
ENDINGS = ("", SD, CONTROL, CONTROL + SD)


def dev_pairs(settings: Mapping[str, Any]) -> SentencePairs:
    """The dev pairs of STS-B that a scale looks at; ValueError where none of so few is close."""
    dev = some_pairs(load("stsb", split="dev"), settings["n_dev"])
    if not (dev.score > 4).any():
        raise ValueError(
            f"n_dev={settings['n_dev']} leaves no pair graded above 4, and alignment is measured "
            "on those; take 28 or more")
    return dev


@functools.lru_cache(maxsize=1)
def _synonyms() -> dict[str, list[str]]:
    """Nearest words in the course's vectors: no dictionary of synonyms comes with the course."""
    return augment.neighbour_synonyms(load("course-vectors"), texts_of("STS-B, train"))


AUGMENTS: dict[str, Callable[[str, np.random.Generator], str]] = {
    "delete one word": lambda text, rng: augment.delete_one_word(text, rng=rng),
    "synonyms": lambda text, rng: augment.replace_synonyms(text, _synonyms(), 0.1, rng=rng)}
for _name, _change in {"crop": augment.crop, "delete": augment.delete_words}.items():
    for _share in (10, 20, 30):
        AUGMENTS[f"{_name} {_share} %"] = (
            lambda text, rng, f=_change, share=_share: f(text, share / 100, rng=rng))

# What differs from the settings of the scale, by the name of the training.
VARIANTS: dict[str, dict[str, Any]] = {
    "SimCSE": {}, "no dropout": {"dropout": 0.0, "views": "none"},
    "one mask for both": {"views": "same dropout"},
    "delete one word, no dropout": {"augment": "delete one word", "dropout": 0.0, "views": "none"},
    "supervised": {"supervised": True}, "last": {"pooling": "last"},
    "last, MLP": {"pooling": "last", "head": "mlp"}}
VARIANTS |= {f"dropout {share:g}": {"dropout": share} for share in (0.01, 0.05, 0.15, 0.2, 0.5)}
VARIANTS |= {name: {"augment": name} for name in AUGMENTS}
VARIANTS |= {f"τ = {tau:g}": {"temperature": tau} for tau in (0.001, 0.01, 0.1, 1.0)}
VARIANTS |= {f"on {kind}": {"sentences": kind} for kind in SENTENCES}
VARIANTS |= {f"pairs: {kind}": {"pairs": kind} for kind in PAIRS}
VARIANTS["on Wikipedia, delete one word"] = {"sentences": "Wikipedia", "augment": "delete one word"}


def variant(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """All settings of a training: the scale's, those of supervised ones, and its own."""
    own = VARIANTS[check_choice("variant", name, VARIANTS)]
    supervised = settings.get("supervised", {}) if own.get("supervised") else {}
    return {**settings["training"], **supervised, **own}


def _train(encoder: ContextualEncoder, own: Mapping[str, Any], seed: int,
           dev: SentencePairs | None) -> SimCse:
    ours = ("sentences", "pairs", "n", "encoder", "augment")
    options = {key: value for key, value in own.items() if key not in ours}
    n = own.get("n")
    if kind := own.get("pairs"):
        rows = generator(seed).permutation(len(pairs_of(kind)[0]))[:n]
        data: Any = tuple([side[i] for i in rows] for side in pairs_of(kind))
        options["supervised"] = True
    elif own.get("supervised"):
        data = load("nli")
        data = data.select(generator(seed).permutation(len(data))[:n]) if n else data
    else:
        data = texts_of(own["sentences"])
        data = [data[i] for i in generator(seed).permutation(len(data))[:n]] if n else data
    change = AUGMENTS[own["augment"]] if own.get("augment") else None
    with quiet():
        return SimCse(encoder, **options, augment=change, seed=seed).fit(data, dev)


def looked_at(model: Any, sets: Sequence[str] = (), n: int | None = None, *,
              best: bool = False) -> Rows:
    """What a training leaves behind on the dev pairs of STS-B, rows by ending. "": Spearman x 100
    by place, with the weights that were best on dev, but dev itself, unless ``best``, with the last
    ones; ": dev", ": alignment", ": uniformity" by step; ": spectrum before" and ": spectrum",
    singular values divided by the largest, by number."""
    seen = model.history_
    line = seen.best if best else -1
    rows: Rows = {"": spearman_by_set(model, sets, n) | {DEV: 100 * float(seen.dev[line])}}
    for what in LOOKS:
        values, unit = getattr(seen, what), 100 if what == "dev" else 1
        steps = zip(seen.step, values, strict=True)
        rows[f": {what}"] = {int(step): float(value) * unit for step, value in steps}
    for ending, line in ((": spectrum before", 0), (": spectrum", -1)):
        rows[ending] = {k: float(v) for k, v in enumerate(seen.spectrum[line], 1)}
    return rows


def _rows(name: str, settings: Mapping[str, Any], decides: Mapping[str, Any], dev: Any,
          **options: Any) -> Rows:
    """Rows of a training; what decides them besides its settings, and options of `trained_rows`."""
    own = variant(settings, name)
    return trained_rows(name, lambda encoder, seed: _train(encoder, own, seed, dev), entry=SHARED,
                        settings={**own, "encoder": settings["encoder"], **decides}, **options)


def runs(names: Iterable[str], settings: Mapping[str, Any], seed: int, *,
         controls: Iterable[str] = ()) -> Rows:
    """Rows of trainings, see `looked_at`; those of ``controls`` have untrained ones, too.
    ``settings`` of the scale: ``training``, ``supervised`` (what differs there), ``encoder``,
    ``seeds``, ``controls`` (their number at most), ``n_dev``, ``sets`` and ``n_pairs``, where the
    two main models are scored, ``others``, where the other ones are, and ``keeps``, "best" where
    dev scores are of the weights that were best on dev, too."""
    result: Rows = {}
    controls, dev, n = set(controls), dev_pairs(settings), settings["n_pairs"]
    best = settings.get("keeps") == "best"
    few = min(settings["seeds"], settings.get("controls", 1))
    for name in names:
        sets = list(settings["sets"]) if name in MAIN else []
        sets += settings.get("others", [])
        result |= _rows(name, settings, {"scored": sets, "dev": len(dev), "pairs": n,
                                         "keeps": "best" if best else "last"}, dev,
                        seeds=settings["seeds"], seed=seed, controls=few if name in controls else 0,
                        score=lambda model, sets=sets: looked_at(model, sets, n, best=best))
    return result


def read_in_ways(names: Iterable[str], settings: Mapping[str, Any], seed: int) -> Rows:
    """Rows "name, read by pooling" of trainings, each read by several poolings with the weights
    that were best on dev. Spearman x 100 on STS-B, test (x = 5) and dev. ``settings`` as `runs`."""
    result: Rows = {}
    n, dev = settings["n_pairs"], dev_pairs(settings)

    def score(model: Any) -> Rows:
        return {f", read by {p}": spearman_by_set(model.read_by(p), BOTH, n) for p in READ}

    for name in names:
        decides = {"poolings": list(READ), "pairs": n, "dev": len(dev)}
        result |= _rows(name, settings, decides, dev, seeds=settings["seeds"], seed=seed,
                        controls=settings["controls"], score=score)
    return result


# Name in a table -> name of the training. At laptop scale some rows only; all at the paper's.
AUGMENTATIONS = {"none (dropout)": "SimCSE",
                 **{name: name for name in AUGMENTS if name.endswith("%")},
                 "delete one word": "delete one word",
                 "that without dropout": "delete one word, no dropout", "synonyms": "synonyms"}
RATES = {"0": "no dropout", "0.01": "dropout 0.01", "0.05": "dropout 0.05", "0.1": "SimCSE",
         "0.15": "dropout 0.15", "0.2": "dropout 0.2", "0.5": "dropout 0.5",
         "0.1, one mask": "one mask for both"}
TAUS = {"τ = 0.001": "τ = 0.001", "τ = 0.01": "τ = 0.01", "τ = 0.05": "SimCSE",
        "τ = 0.1": "τ = 0.1", "τ = 1": "τ = 1"}
KINDS = {"STS-B, train": "SimCSE", "NLI": "on NLI", "Wikipedia": "on Wikipedia",
         "Wikipedia, 12 words": "on Wikipedia, 12 words"}
OBJECTIVES = {name: f"pairs: {name}" for name in ("next sentence", "next 3 sentences")}
OBJECTIVES |= {"delete one word": "on Wikipedia, delete one word", "dropout alone": "on Wikipedia"}
LABELS = {"no labels": "SimCSE", **{name: f"pairs: {name}" for name in CLASSES},
          "all classes": "pairs: all classes", "entailment, hard negatives": "supervised"}
PATHS = {"dropout of 0.1": "SimCSE", "no dropout": "no dropout",
         "one mask for both": "one mask for both", "delete one word": "delete one word"}
PLANE = {"SimCSE": "SimCSE", "supervised SimCSE": "supervised"}
POOLED = {"first-last": "SimCSE", "last": "last", "last, MLP": "last, MLP"}
READ = ("last", "first-last")
BOTH = ("stsb", "stsb dev")


def _chosen(rows: Mapping[str, str], settings: Mapping[str, Any]) -> dict[str, str]:
    """The rows of a table whose trainings a scale has."""
    only = settings.get("only", rows.values())
    return {row: name for row, name in rows.items() if name in only}


def _renamed(result: Series, rows: Mapping[str, str], endings: Sequence[str] = ENDINGS,
             part: str = "") -> Rows:
    """A part of trainings under the names of a table, with each ending that is there."""
    return {row + ending: dict(result[name + part + ending]) for row, name in rows.items()
            for ending in endings if name + part + ending in result}


def _table_of(rows: Mapping[str, str], controls: Sequence[str] = ("SimCSE",)) -> Measure:
    """Scores of trainings on STS-B, dev and what else was scored, and dev before training. Where
    trainings are cheap, ``settings["every"]``, each has its control."""
    def measure(settings: Mapping[str, Any], seed: int) -> Series:
        chosen = _chosen(rows, settings)
        beside = chosen.values() if settings.get("every") else controls
        result = runs(chosen.values(), settings, seed, controls=beside)
        places = [DEV, *(PLACES.index(place) for place in settings.get("others", []))]
        scores = {row: {x: values[x] for x in places if x in values}
                  for row, values in _renamed(result, chosen).items()}
        for ending in ("", CONTROL):
            looks = (result.get(f"{name}: dev{ending}") for name in chosen.values())
            if before := next(filter(None, looks), None):
                scores[RAW + ending] = {DEV: before[0]}
        return scores
    return measure


def _measure_paths(settings: Mapping[str, Any], seed: int) -> Series:
    controls = PATHS.values() if settings.get("every") else ("SimCSE",)
    result = runs(PATHS.values(), settings, seed, controls=controls)
    return {f"{row}: {what}{ending}": result[f"{name}: {what}{ending}"]
            for row, name in PATHS.items() for ending in ("", CONTROL) for what in LOOKS
            if f"{name}: {what}{ending}" in result}


def _measure_plane(settings: Mapping[str, Any], seed: int) -> Series:
    """Uniformity (x = 0), alignment (1) and Spearman x 100 (2) on the dev pairs of STS-B."""
    result = runs(PLANE.values(), settings, seed, controls=PLANE.values())
    series: Rows = {}
    for row, name in PLANE.items():
        for ending in ("", CONTROL):
            even, close, dev = (
                result[f"{name}: {what}{ending}"] for what in ("uniformity", "alignment", "dev"))
            for label, step in ((RAW, 0), (row, max(dev))):
                series[label + ending] = {0: even[step], 1: close[step], 2: dev[step]}
    for ending, random in (("", ""), (CONTROL, RANDOM)):
        encoder = model_of(settings["encoder"] + random, seed)
        series["whitening" + ending] = _whitened(encoder, settings)
    return series


def _measure_spectrum(settings: Mapping[str, Any], seed: int) -> Series:
    controls = PLANE.values() if settings.get("every") else ("SimCSE",)
    result, ends = runs(PLANE.values(), settings, seed, controls=controls), ("", CONTROL)
    before = _renamed(result, {RAW: "SimCSE"}, ends, part=": spectrum before")
    return before | _renamed(result, PLANE, ends, part=": spectrum")


def _measure_sets(settings: Mapping[str, Any], seed: int) -> Series:
    sets = [*settings["sets"], *settings.get("others", [])]
    result = _renamed(runs(PLANE.values(), settings, seed, controls=PLANE.values()), PLANE)
    series: Rows = {}
    for row, values in (_raw("first and last layer", "first-last", sets, settings, seed)
                        | result).items():
        series[row] = {x: values[x] for x in range(len(SETS)) if x in values}
        if UNSEEN in values:
            series[UNSEEN_ROW + row] = {UNSEEN: values[UNSEEN]}
    return series


def _whitened(encoder: ContextualEncoder, settings: Mapping[str, Any]) -> dict[float, float]:
    """The same of vectors that are whitened by the sentences that SimCSE learns from."""
    dev, texts = dev_pairs(settings), texts_of("STS-B, train")[: settings["n_whitening"]]
    encoder = encoder.set_params(pooling=settings["training"]["pooling"])
    with quiet():
        fitted = Whitening().fit(encoder.encode(texts))
    z = fitted.transform(encoder.encode([*dev.sentence1, *dev.sentence2]))
    close = np.flatnonzero(dev.score > 4)
    aligned = alignment(z[close], z[close + len(dev)])
    return {0: uniformity(z), 1: aligned, 2: paired_spearman(z, dev.score)}


def _raw(row: str, pooling: str, sets: Sequence[str], settings: Mapping[str, Any],
         seed: int) -> Rows:
    """Scores of the model before training, and of its random initialisation."""
    models = {ending: model_of(settings["encoder"] + random, seed).set_params(pooling=pooling)
              for ending, random in (("", ""), (CONTROL, RANDOM))}
    return {row + ending: spearman_by_set(model, sets, settings["n_pairs"])
            for ending, model in models.items()}


def _measure_poolings(settings: Mapping[str, Any], seed: int) -> Series:
    chosen = _chosen(POOLED, settings)
    result = read_in_ways(chosen.values(), settings, seed)
    series: Rows = {}
    for p in READ:
        series |= _raw(f"{RAW} → {p}", p, BOTH, settings, seed)
    for row, name in chosen.items():
        for p in READ:
            series |= _renamed(result, {f"{row} → {p}": f"{name}, read by {p}"})
    return series


def _dots(title: str, row: str, over: str, *, source: str, begins: str = "") -> Draw:
    """The paper's rows and those measured here on the dev pairs; the title says what separates two
    of them. ``begins`` stands before the names of the paper's rows."""
    def draw(entry: Entry, measured: Series) -> Any:
        names = [name for name in measured if not name.endswith((SD, CONTROL)) and name != RAW]
        rows = dict.fromkeys([*entry.printed, *names, *([RAW] if RAW in measured else [])])
        return beside_paper(
            {(begins if name != RAW else "") + name: dots_of(entry, measured, name, DEV)
             for name in rows},
            title=f"{title}: {gains(entry, measured, row, over, DEV)}", source=source,
            xlabel="STS-B dev, Spearman × 100")
    return draw


def _draw_paths(entry: Entry, measured: Series) -> Any:
    def path(name: str, ending: str = "") -> tuple[list[float], ...]:
        looks = ("uniformity", "alignment")
        return tuple(list(measured[f"{name}: {what}{ending}"].values()) for what in looks)

    paths = {name: path(name) for name in PATHS}
    paths["dropout, control"] = path("dropout of 0.1", CONTROL)
    title = "Every training spreads the sentences and pays in alignment"
    fig = plane_of_trainings(paths, title=title)
    ax = fig.axes[0]
    (left, right), (low, high) = AXES_OF_FIGURE_2
    ax.add_patch(rectangle(left, low, right - left, high - low, color=GREY, alpha=0.15, lw=0))
    note(ax, "axes of the paper's Figure 2", (left, low), (-4, 0), ha="right", color=GREY,
         fontsize=10)
    return fig


def _plain_name(row: str) -> str:
    """The name of a row for a picture: a control says that it is randomly initialised."""
    name = row.removesuffix(CONTROL)
    if name == row:
        return row
    return "control" if name == RAW else f"{name}, control"


def _filled(row: Mapping[float, float]) -> np.ndarray:
    """Values without those near 0: a LayerNorm leaves one direction empty."""
    values = np.array(list(row.values()))
    return values[values > 1e-3 * values.max()]


def _draw_sets(entry: Entry, measured: Series) -> Any:
    """The stages on the mean over the sets, on STS-B, and on its pairs with unseen sentences."""
    stages = {"first and last layer": "before", "SimCSE": "SimCSE",
              "supervised SimCSE": "supervised"}
    rows = {f"mean of the sets, {short}": mean_dots(entry, measured, name)
            for name, short in stages.items()}
    for title, begins, x in (("STS-B test", "", PLACES.index("stsb")),
                             ("unseen pairs", UNSEEN_ROW, UNSEEN)):
        rows |= {f"{title}, {short}": dots_of(entry, measured, begins + name, x)
                 for name, short in stages.items() if x in measured.get(begins + name, {})}
    told = gains(entry, measured, "SimCSE", "first and last layer")
    return beside_paper(rows, title=f"SimCSE adds on the mean of the sets: {told}",
                        source=f"{PAPER_BERT}, Table 5",
                        groups=range(3, len(rows), 3))


_COMMON = {"sentences": "STS-B, train", "learning_rate": 2e-4, "head": "none",
           "pooling": "first-last", "max_length": 32, "dropout": 0.1}
# of LessonBERT, until dev stops rising: what a network gains or loses by dropout and by pooling
_LAPTOP = {"encoder": COURSE, "seeds": 3, "controls": 1, "every": True, "keeps": "best", "sets": [],
           "n_whitening": None, "n_dev": None, "n_pairs": None, "supervised": {},
           "training": _COMMON | {"steps": 200, "batch_size": 64, "evaluate_every": 25,
                                  "precision": "bfloat16"}}
# of a bag of words, until dev stops rising; what the paper says of temperature, dropout and batch
_BAG = {"encoder": BAG, "seeds": 3, "controls": 3, "every": True, "keeps": "best",
        "sets": [name for name in SETS if name != "stsb"], "others": ["stsb", "stsb unseen"],
        "n_whitening": None, "n_dev": None, "n_pairs": None,
        "supervised": {"steps": 150, "evaluate_every": 30},
        "training": {"sentences": "STS-B, train", "learning_rate": 0.01, "head": "none",
                     "pooling": "last", "dropout": 0.1, "temperature": 0.05, "warmup": 0.0,
                     "steps": 120, "batch_size": 64, "evaluate_every": 24}}
_FEW = {"seeds": 1, "controls": 1, "n_whitening": 300, "n_dev": 60, "n_pairs": 60}
_TWO_STEPS = {"steps": 2, "batch_size": 8, "evaluate_every": 1, "n": 100}
_SMOKE = _LAPTOP | _FEW | {"training": _COMMON | _TWO_STEPS}
_BAG_SMOKE = _BAG | _FEW | {"sets": ["sts16"], "others": ["stsb"], "supervised": {},
                            "training": _BAG["training"] | _TWO_STEPS}
_PAPER = {"encoder": PAPER, "seeds": 3, "controls": 0, "sets": list(SETS), "n_whitening": None,
          "n_dev": None, "n_pairs": None, "keeps": "best",
          "supervised": {"learning_rate": 5e-5, "batch_size": 512, "epochs": 3.0},
          "training": {"sentences": "Wikipedia, a million", "learning_rate": 3e-5, "head": "mlp",
                       "pooling": "cls", "max_length": 32, "dropout": 0.1, "warmup": 0.0,
                       "epochs": 1.0, "batch_size": 64, "evaluate_every": 250,
                       "precision": "bfloat16"}}
SCALES: dict[str, dict[str, Any]] = {"smoke": _SMOKE, "laptop": _LAPTOP, "paper": _PAPER}
BAG_SCALES = SCALES | {"smoke": _BAG_SMOKE, "laptop": _BAG}


def _only(scales: Mapping[str, Mapping[str, Any]], *laptop: str) -> dict[str, dict[str, Any]]:
    """The scales with some trainings of a table only, at smoke and laptop scale."""
    only = {"smoke": {"only": list(laptop)}, "laptop": {"only": list(laptop)}, "paper": {}}
    return {name: dict(scales[name]) | own for name, own in only.items()}


POOLING_SCALES = SCALES | {"smoke": _SMOKE | {"only": ["SimCSE", "last"]}}


def _rise(m: Series, name: str, what: str) -> float:
    """What a training adds to a measure from its first look to its last."""
    row = m[f"{name}: {what}"]
    return row[max(row)] - row[min(row)]


def _share(row: Mapping[float, float]) -> float:
    """The share of the largest singular value, which is 1, in all squares."""
    return float(1 / sum(v * v for v in row.values()))


def _flatter(name: str) -> Holds:
    """Whether the largest singular value has a smaller share of all squares, by 30 %."""
    return lambda m: _share(m[name]) < 0.7 * _share(m[RAW])


def _draw_spectrum(entry: Entry, measured: Series) -> Any:
    shares = [f"{_share(measured[RAW + ending]):.0%} to {_share(measured['SimCSE' + ending]):.0%}"
              for ending in ("", CONTROL)]
    return singular_spectrum(
        {_plain_name(name): _filled(row) for name, row in measured.items()
         if name != "supervised SimCSE" + CONTROL},
        title=f"SimCSE lowers the first direction's share from {shares[0]} (control {shares[1]})")


def _best(m: Series) -> bool:
    scores = {row: values[DEV] for row, values in m.items() if not row.endswith((CONTROL, SD))}
    raw = max(score for row, score in scores.items() if row.startswith(RAW))
    return max(score for row, score in scores.items() if not row.startswith(RAW)) >= raw + 6


ENTRIES = (
    declared("gao2021_table1", _table_of(AUGMENTATIONS),
             _dots("Dropout alone against a crop of 30 %", "none (dropout)", "crop 30 %",
                   source=f"{PAPER_BERT}, Table 1"),
             _only(BAG_SCALES, "SimCSE", "crop 30 %", "delete 30 %", "delete one word",
                   "synonyms"),
             alone=lambda m: all(m["none (dropout)"][DEV] > m[name][DEV] for name in AUGMENTATIONS
                                 if name in m and name != "none (dropout)")),
    declared("gao2021_table2", _table_of(OBJECTIVES),
             _dots("Dropout alone against the next sentence", "dropout alone", "next sentence",
                   source=f"{PAPER_BERT}, Table 2"), BAG_SCALES),
    declared("gao2021_table3", _table_of(RATES),
             _dots("Dropout of 0.1 against none", "0.1", "0", source=f"{PAPER_BERT}, Table 3",
                   begins="dropout "),
             # of LessonBERT: a network that was pre-trained with masks, if late (lesson 14)
             _only(BAG_SCALES | {"laptop": _LAPTOP}, "SimCSE", "no dropout", "dropout 0.2",
                   "dropout 0.5", "one mask for both")),
    declared("gao2021_table4", _table_of(LABELS),
             _dots("Pairs that follow against none", "entailment", "no labels",
                   source=f"{PAPER_BERT}, Table 4"), BAG_SCALES),
    declared("gao2021_figure2", _measure_paths, _draw_paths, BAG_SCALES,
             without=lambda m: min(
                 _rise(m, name, "alignment") for name in ("no dropout", "one mask for both")
             ) > _rise(m, "dropout of 0.1", "alignment"),
             even=lambda m: all(_rise(m, name, "uniformity") < 0 for name in PATHS),
             deleting=lambda m: _rise(m, "delete one word", "uniformity")
             > _rise(m, "dropout of 0.1", "uniformity")),
    declared("gao2021_figure3", _measure_plane, lambda entry, m: plane_of_encoders(
        {_plain_name(name): (row[0], row[1], row[2]) for name, row in m.items()},
        title="Between the raw vectors and the whitened ones", marked=list(PLANE)), BAG_SCALES,
             raw=lambda m: all(m[RAW][1] < m[name][1] and m[RAW][0] > m[name][0]
                               for name in (*PLANE, "whitening"))),
    declared("gao2021_singular_values", _measure_spectrum, _draw_spectrum, BAG_SCALES,
             plain=_flatter("SimCSE"), supervised=_flatter("supervised SimCSE")),
    declared("gao2021_table5", _measure_sets, _draw_sets, BAG_SCALES),
    declared("gao2021_temperature", _table_of(TAUS),
             _dots("τ = 0.05 against τ = 1", "τ = 0.05", "τ = 1",
                   source=f"{PAPER_BERT}, supervised (appendix)"),
             _only(BAG_SCALES, "SimCSE", "τ = 0.01", "τ = 1"),
             between=lambda m: m["τ = 0.05"][DEV] > m["τ = 0.01"][DEV] > m["τ = 1"][DEV]),
    declared("gao2021_table6", _measure_poolings,
             _dots("SimCSE, read by first and last, against no training",
                   "first-last → first-last", "not trained → first-last",
                   source=f"{PAPER_BERT}, Table 6"), POOLING_SCALES,
             head=lambda m: m.get("last, MLP → first-last", {DEV: -np.inf})[DEV]
             > m.get("last → first-last", {DEV: np.inf})[DEV], learns=_best),
    declared("gao2021_sentences", _table_of(KINDS, controls=("SimCSE", "on Wikipedia")),
             _dots("Learning from Wikipedia against no training", "Wikipedia", RAW,
                   source=f"{PAPER_BERT}, a million sentences"), BAG_SCALES),
)
