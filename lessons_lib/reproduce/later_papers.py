"""What later papers object to the story of the cone, measured again.

Godey et al. 2024: attention makes vectors alike before it has learned anything. Jiang et al. 2022:
frequent tokens do the harm, not the cone. Mickus et al. 2024: isotropy has no room for clusters.
Steck et al. 2024: a model can leave cosine free. Discussed in lesson ``09_anisotropy``. Forooghi et
al. 2024: whitening does not help a classifier; in ``12_bert_whitening``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core import BackendUnavailable, generator
from ..counts.named import sample_sentences
from ..datasets import load
from ..isotropy import Whitening, isoscore, mean_cosine
from ..sentences import MeanEncoder
from .entry import CONTROL, OTHER_CONTROL, Rows, Series, declared
from .models import controlled, model_of, with_encoder
from ..plots.labels import heading, new_figure
from ..plots.style import styled
from .pictures import line_panels
from .trained import paired_spearman, quiet

__all__ = ["ENTRIES", "penalised", "pieces_dropped", "scaled_models", "shifted_block", "stretched"]

# ------------------------------------------------------------------ Godey et al. 2024

SHIFTS = [0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]  # in norms of an input
PARTS = ("inputs", "attention alone", "the whole block")
_BERT = {"dim": 768, "heads": 12, "feed_forward": 3072, "shifts": SHIFTS}
SHIFT_SCALES = {
    "smoke": _BERT | {"dim": 64, "heads": 4, "feed_forward": 256, "rows": 3, "length": 32},
    "laptop": _BERT | {"rows": 4, "length": 128}, "paper": _BERT | {"rows": 16, "length": 512}}


def _alike(rows: np.ndarray) -> float:
    """Mean cosine of vectors (rows, length, dim) that stand in different rows."""
    x = rows / np.linalg.norm(rows, axis=2, keepdims=True)
    sums, (n, length, _) = x.sum(axis=1), x.shape
    between = sums.sum(axis=0) @ sums.sum(axis=0) - (sums * sums).sum()
    return float(between / (n * (n - 1) * length**2))


def shifted_block(shift: float, *, own: bool, dim: int, heads: int, feed_forward: int, rows: int,
                  length: int, seed: int) -> dict[str, float]:
    """Mean cosines of the inputs and outputs of an untrained BERT block. The inputs are rows of an
    untrained table, to which one vector is added, ``shift`` times as long as they are; or to each
    of them a vector of its ``own``."""
    import torch

    from ..contextual import BertSize, LessonBert
    from ..contextual.lesson_bert import STD

    size = BertSize(1, dim=dim, layers=1, heads=heads, feed_forward=feed_forward, positions=1)
    block = LessonBert(size, seed=seed).encoder["layer"][0].eval()
    rng = generator(seed)
    inputs = rng.normal(0, STD, (rows, length, dim))
    added = rng.normal(size=inputs.shape if own else dim)
    added *= STD * dim**0.5 / np.linalg.norm(added, axis=-1, keepdims=True)
    x = torch.tensor(inputs + shift * added, dtype=torch.float32)
    with torch.inference_mode():
        states = x, block.attention["self"](x, None), block(x, None)
    return {name: _alike(state.numpy().astype(np.float64))
            for name, state in zip(PARTS, states, strict=True)}


def _measure_shifts(settings: Mapping[str, Any], seed: int) -> Series:
    sizes = {name: value for name, value in settings.items() if name != "shifts"}
    result: Rows = {}
    for ending, own in (("", False), (OTHER_CONTROL, True)):
        for shift in settings["shifts"]:
            for name, y in shifted_block(shift, own=own, seed=seed, **sizes).items():
                result.setdefault(name + ending, {})[shift] = y
    return result


# ------------------------------------------------------------------ Jiang et al. 2022

DROPPED = [0, 1, 3, 10, 36, 100, 300]
STATIC, LAST, OTHER, COSINE = "word table", "last layer", "word table of MiniLM", ", mean cosine"
OF_TOKENS, RANKS = ", mean cosine of tokens", ((0, 36), (36, 300), (300, 3000))
BIASED = 36  # of the most frequent tokens, as many as the paper leaves out
TOKEN_SCALES = with_encoder({"pairs": 200, "seeds": 1}, {"pairs": None, "seeds": 1},
                            {"pairs": None, "seeds": 3}, dropped=DROPPED)


def _rank(encoder: Any) -> np.ndarray:
    """The rank of each token by frequency, 0 for the most frequent; special ones come last."""
    counts = encoder.piece_counts
    if counts is None:
        read = encoder.tokenizer.number(sample_sentences(), longest=sys.maxsize, refuse=False)
        counts = np.bincount(read.ids, minlength=encoder.reader.vocabulary)
    special = encoder.tokenizer.special_mask(np.arange(len(counts)))
    return np.argsort(np.argsort(-np.where(special, -1, counts), kind="stable"), kind="stable")


def pieces_dropped(encoder: Any, texts: Sequence[str], dropped: Sequence[int], *,
                   last: bool = True) -> dict[str, dict[int, np.ndarray]]:
    """Vectors of texts without the so many most frequent tokens: means of their rows in the word
    table and, where asked, of their vectors in the last layer. A text of frequent tokens only
    keeps all of them."""
    rank = _rank(encoder)
    table, layer = encoder.word_table, encoder.layers if last else 0
    means: dict[str, dict[int, list[np.ndarray]]] = {
        name: {k: [] for k in dropped} for name in (STATIC, LAST)[: 1 + last]}
    for text in encoder.hidden_states(texts, layers=layer):
        words = np.flatnonzero(~text.special)
        for k in dropped:
            rare = words[rank[text.ids[words]] >= k]
            kept = rare if len(rare) else words
            for name, of in means.items():
                vectors = table[text.ids[kept]] if name == STATIC else text.vectors[0][kept]
                of[k].append(vectors.mean(axis=0))
    return {name: {k: np.array(rows) for k, rows in of.items()} for name, of in means.items()}


def _token_rows(model: str, seed: int, settings: Mapping[str, Any], *, last: bool = True) -> Rows:
    pairs = load("stsb")
    n = len(pairs) if settings["pairs"] is None else settings["pairs"]
    texts, scores = pairs.sentence1[:n] + pairs.sentence2[:n], pairs.score[:n]
    encoder, result = model_of(model, seed), {}
    with quiet():
        for name, of in pieces_dropped(encoder, list(texts), settings["dropped"],
                                       last=last).items():
            result[name] = {k: paired_spearman(x, scores) for k, x in of.items()}
            result[name + COSINE] = {k: mean_cosine(x) for k, x in of.items()}
    table = encoder.word_table[np.argsort(_rank(encoder))]
    result[STATIC + OF_TOKENS] = {first: mean_cosine(table[first:end]) for first, end in RANKS}
    return result


def _measure_tokens(settings: Mapping[str, Any], seed: int) -> Series:
    result = controlled(_token_rows)(settings, seed)
    try:
        other = _token_rows("minilm", seed, settings, last=False)
    except BackendUnavailable:
        return result
    return result | {name.replace(STATIC, OTHER): row for name, row in other.items()}


def _draw_tokens(entry: Any, measured: Series) -> Any:
    rows = [row + end for row in (STATIC, LAST, OTHER) for end in ("", CONTROL)]
    panels = {heading: {row: measured[key] for row in rows if (key := _with(row, what)) in measured}
              for heading, what in (("STS-B, Spearman × 100", ""), ("mean cosine", COSINE))}
    return line_panels(panels, title="Without frequent words word tables score higher, cone or not",
                       xlabel="most frequent tokens left out", linear=1, size=4.6)


def _gains(m: Series, row: str) -> bool:
    """Whether it scores better without biased tokens."""
    return m[row][BIASED] > m[row][0] + 1


def _stays(m: Series, row: str) -> bool:
    """Whether its cone does not open without them."""
    return m[row + COSINE][BIASED] > m[row + COSINE][0] - 0.05


def _with(row: str, what: str) -> str:
    """The name of a row of another measure: what stands before the name of its control."""
    own = row.removesuffix(CONTROL)
    return own + what + row[len(own):]


# ------------------------------------------------------------------ Mickus et al. 2024

POWERS = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
APART = [0.0, 1.0, 2.0, 3.0, 5.0, 8.0]
RAW = "as they are"
MEASURES = ("IsoScore", "silhouette", "accuracy")
_CLUSTERS = {"powers": POWERS, "apart": APART}
CLUSTER_SCALES = {"smoke": _CLUSTERS | {"train": 1500, "test": 600, "encoders": ["skip-gram"]},
                  "laptop": _CLUSTERS | {"train": 5000, "test": 3000,
                                         "encoders": ["skip-gram", "lesson-bag"]},
                  "paper": _CLUSTERS | {"train": 11_314, "test": 7532,
                                        "encoders": ["skip-gram", "lesson-bag", "minilm"]}}


def stretched(train: np.ndarray, labels: np.ndarray, powers: Sequence[float],
              along: np.ndarray | None = None) -> list[np.ndarray]:
    """A map (dim, dim) for each power: the axes that tell labels apart, each scaled so that the
    variance along it is its power of total by within-label variance. 0 whitens; 1 whitens within
    labels; more stretches what tells them apart. ``along``: the axes of other labels."""
    from scipy.linalg import eigh

    def axes(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kinds, of = np.unique(names, return_inverse=True)
        means = np.stack([train[of == k].mean(axis=0) for k in range(len(kinds))])
        return eigh(np.cov(train.T, ddof=0), np.cov((train - means[of]).T, ddof=0))

    ratio, basis = axes(labels)
    other, basis = (ratio, basis) if along is None else axes(along)
    return [basis * other**-0.5 * ratio ** (power / 2) for power in powers]


def _of_space(train: np.ndarray, labels: np.ndarray, test: np.ndarray,
              truth: np.ndarray) -> tuple[float, float, float]:
    """Of the test vectors: IsoScore, silhouette, and how many are nearest to their label's mean."""
    from sklearn.metrics import silhouette_score
    from sklearn.neighbors import NearestCentroid

    right = NearestCentroid().fit(train, labels).predict(test) == truth
    return isoscore(test), float(silhouette_score(test, truth)), float(right.mean())


def _news(split: str, n: int, seed: int) -> tuple[list[str], np.ndarray]:
    texts = load("20newsgroups", split=split)
    texts = texts.select(np.sort(generator(seed).permutation(len(texts))[:n]))
    return list(texts.texts), np.array(texts.labels)


def _drawn(apart: float, seed: int, *, n: int = 2000, dim: int = 50, clusters: int = 10) -> Any:
    """Points of Gaussian clusters around random directions at a distance, and their labels."""
    rng = generator(seed)
    centres = rng.normal(size=(clusters, dim))
    labels = rng.integers(0, clusters, n)
    centres *= apart / np.linalg.norm(centres, axis=1, keepdims=True)
    return centres[labels] + rng.normal(size=(n, dim)), labels


def _measure_clusters(settings: Mapping[str, Any], seed: int) -> Series:
    result: Rows = {}

    def put(name: str, x: float, of: Sequence[float], ending: str = "") -> None:
        for measure, y in zip(MEASURES, of, strict=True):
            result.setdefault(f"{measure}, {name}{ending}", {})[x] = y

    for apart in settings["apart"]:
        (x, labels), half = _drawn(apart, seed), 1000
        for ending, of in (("", labels), (OTHER_CONTROL, generator(seed).permutation(labels))):
            put("drawn", apart, _of_space(x[:half], of[:half], x[half:], of[half:]), ending)
    (texts, labels), (held, truth) = (_news(name, settings[name], seed)
                                      for name in ("train", "test"))
    shuffled = generator(seed).permutation(labels)
    for name in settings["encoders"]:
        encoder = (MeanEncoder(load("course-vectors", model=name)) if name == "skip-gram"
                   else model_of(name))
        with quiet():
            train, test = (encoder.encode(some).astype(np.float64) for some in (texts, held))
        put(f"{name}, {RAW}", 0, _of_space(train, labels, test, truth))
        for ending, along in (("", None), (OTHER_CONTROL, shuffled)):
            maps = stretched(train, labels, settings["powers"], along)
            for power, by in zip(settings["powers"], maps, strict=True):
                put(name, power, _of_space(train @ by, labels, test @ by, truth), ending)
    return result


def _kinds(m: Series) -> list[str]:
    """The encoders whose vectors were stretched."""
    names = [row.partition(", ")[2] for row in m if row.startswith(MEASURES[2])]
    return [name for name in names if not name.endswith((OTHER_CONTROL, RAW, "drawn"))]


def _clustered(m: Series) -> bool:
    """Whether each step away from isotropy gains silhouette, up to the most clustered space."""
    for name in _kinds(m):
        even, apart = (np.array(list(m[f"{what}, {name}"].values())) for what in MEASURES[:2])
        if not ((np.diff(even) < 0).all() and apart.max() - apart[0] > 0.02
                and (np.diff(apart[: apart.argmax() + 1]) > 0).all()):
            return False
    return True


def _costs(m: Series) -> bool:
    """Whether the isotropic space is classified worse than the same space stretched."""
    rows = [m[f"accuracy, {name}"] for name in _kinds(m)]
    return all(max(row.values()) > row[0] + 0.01 for row in rows)


def _draw_clusters(entry: Any, measured: Series) -> Any:
    rows = [name + end for name in sorted(_kinds(measured), reverse=True)
            for end in ("", OTHER_CONTROL)]
    panels = {what: {row: measured[f"{what}, {row}"] for row in rows} for what in MEASURES}
    return line_panels(panels, title="What isotropy loses clusters gain; accuracy hardly moves",
                       xlabel="stretched by (0: isotropic)", size=4.2)


# ------------------------------------------------------------------ Steck et al. 2024

SCALINGS = ("D = 1", "D = Λ^½", "D = Λ^-½", "D = Σ")
STECK_SCALES = {name: {"users": users, "items": 100, "clusters": 5, "penalty": 1000.0,
                       "factor_penalty": 2.0, "shown": 3}
                for name, users in (("smoke", 500), ("laptop", 2000), ("paper", 20_000))}


def _bought(users: int, items: int, clusters: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Which user took which item (users, items), 0 or 1, and the cluster of each item. A user has
    shares of the clusters; within a cluster some items are taken more often than others."""
    rng, each = generator(seed), items // clusters
    cluster = np.repeat(np.arange(clusters), each)
    liked = rng.dirichlet(np.full(clusters, 0.3), users)[:, cluster]
    liked *= np.tile((1 + np.arange(each)) ** -0.5, clusters)
    likely = items / 5 * liked / liked.sum(axis=1, keepdims=True)
    return (rng.random(likely.shape) < likely).astype(np.float64), cluster


def scaled_models(x: np.ndarray, penalty: float, factor_penalty: float
                  ) -> dict[str, list[tuple[np.ndarray, np.ndarray, float]]]:
    """Best linear models x ≈ x A B' in closed form, with their dimensions scaled: A D and B D^-1.
    For each scaling the predictions, B and the loss. "": the penalty is on the product A B', which
    no scaling changes; ", control": on x A and on B."""
    _, values, right = np.linalg.svd(x, full_matrices=False)
    shrunk = 1 / (1 + penalty / values**2)
    soft = np.maximum(values - factor_penalty, 0)
    if not soft.all():
        raise ValueError(f"factor_penalty={factor_penalty} leaves no full rank; expected less than "
                         f"{values.min():.3g}")
    best = {"": (right.T * shrunk**0.5, right.T * shrunk**0.5, shrunk),
            OTHER_CONTROL: (right.T * soft**0.5 / values, right.T * soft**0.5, soft)}
    result: dict[str, list[tuple[np.ndarray, np.ndarray, float]]] = {}
    for ending, (a, b, kept) in best.items():
        for by in (np.ones_like(values), kept**0.5, kept**-0.5, values):
            xa, b_scaled = x @ (a * by), b / by
            predicted = xa @ b_scaled.T
            size = (penalty * ((a * by) @ b_scaled.T).ravel() @ ((a * by) @ b_scaled.T).ravel()
                    if not ending else factor_penalty * ((xa**2).sum() + (b_scaled**2).sum()))
            loss = float(((x - predicted) ** 2).sum() + size)
            result.setdefault(ending, []).append((predicted, b_scaled, loss))
    return result


def _measure_scalings(settings: Mapping[str, Any], seed: int) -> Series:
    x, cluster = _bought(settings["users"], settings["items"], settings["clusters"], seed)
    same, other = np.equal.outer(cluster, cluster), np.not_equal.outer(cluster, cluster)
    np.fill_diagonal(same, False)
    each = settings["items"] // settings["clusters"]
    some = np.flatnonzero(np.arange(settings["items"]) % each < settings["shown"])
    result: Rows = {}
    for ending, models in scaled_models(x, settings["penalty"], settings["factor_penalty"]).items():
        first, _, least = models[0]
        for k, (predicted, b, loss) in enumerate(models):
            b = b / np.linalg.norm(b, axis=1, keepdims=True)
            cosines = b @ b.T
            near, far = cosines[same], cosines[other]
            before = np.searchsorted(np.sort(far), near).mean() / len(far)
            for name, y in {"prediction, change": np.abs(predicted - first).max(),
                            "loss, change": abs(loss / least - 1), "same cluster": near.mean(),
                            "other clusters": far.mean(), "largest": np.abs(
                                cosines - np.eye(len(b))).max(), "nearer": before}.items():
                result.setdefault(name + ending, {})[k] = float(y)
            if not ending or not k:
                shown = cosines[np.ix_(some, some)].ravel().round(3)
                result[f"cosines, {SCALINGS[k]}{ending}"] = dict(enumerate(map(float, shown)))
    return result


def _free(m: Series) -> bool:
    """Whether no scaling changes what the model predicts or how good it is."""
    return max(*m["prediction, change"].values(), *m["loss, change"].values()) < 1e-9


@styled()
def _draw_scalings(entry: Any, measured: Series) -> Any:
    panels = {"each item alone": ("$D = \\Lambda^{1/2}$", SCALINGS[1]),
              "clusters": ("$D = \\Lambda^{-1/2}$", SCALINGS[2]),
              "turned round": ("$D = \\Sigma$", SCALINGS[3]),
              "control": ("penalty on factors", SCALINGS[0] + OTHER_CONTROL)}
    fig, axes = new_figure("Equal predictions, equal loss: cosines follow a free scaling",
                           size=(7.2, 2.9), panels=len(panels))
    for ax, (name, (under, row)) in zip(axes, panels.items(), strict=True):
        cosines = np.array(list(measured[f"cosines, {row}"].values()))
        side = round(len(cosines) ** 0.5)
        image = ax.imshow(cosines.reshape(side, side), cmap="PuOr_r", vmin=-0.2, vmax=0.2)
        heading(ax, name)
        ax.set(xticks=[], yticks=[], xlabel=under)
    axes[0].set(ylabel="items, by cluster")
    fig.colorbar(image, ax=list(axes), shrink=0.7, label="cosine", extend="both")
    return fig


# ------------------------------------------------------------------ Forooghi et al. 2024

PENALTIES = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0]
_TASKS = {"tasks": ["MR", "CR", "SUBJ"], "gammas": [0.0, 0.5, 1.0], "penalties": PENALTIES}
BAG_ROW = "lesson-bag, "
PROBE_SCALES = with_encoder(
    _TASKS | {"tasks": ["CR"], "train": 300, "test": 200, "seeds": 1},
    _TASKS | {"train": 1500, "test": 1000, "seeds": 1},
    _TASKS | {"tasks": ["MR", "CR", "SUBJ", "MPQA", "SST2", "TREC"], "train": 2500, "test": 1000,
              "seeds": 3})


def penalised(train: np.ndarray, labels: np.ndarray, test: np.ndarray, truth: np.ndarray,
              gamma: float, penalties: Sequence[float]) -> dict[float, float]:
    """Accuracy in % of logistic regression on vectors whitened so far, by the weight of a penalty.
    The columns keep a mean variance of 1, so that a penalty is as strong for each ``gamma``."""
    from sklearn.linear_model import LogisticRegression

    whitening = Whitening(gamma=gamma).fit(train)
    train, test = whitening.transform(train), whitening.transform(test)
    unit = np.sqrt((train**2).mean())
    return {penalty: 100 * float(LogisticRegression(C=1 / penalty, max_iter=500).fit(
        train / unit, labels).score(test / unit, truth)) for penalty in penalties}


def _probe_rows(model: str, seed: int, settings: Mapping[str, Any]) -> Rows:
    data, encoder = load("senteval"), model_of(model, seed)
    named = np.array(data.label_names)[data.labels] if data.label_names else data.labels
    tasks = np.array([name.partition("/")[0] for name in named])
    accuracies: dict[str, list[dict[float, float]]] = {}
    for task in settings["tasks"]:
        rows = generator(0).permutation(np.flatnonzero(tasks == task))
        rows = rows[: settings["train"] + settings["test"]]
        with quiet():
            x = encoder.encode([data.texts[i] for i in rows]).astype(np.float64)
            parts = [part for of in (x, named[rows]) for part in np.split(of, [settings["train"]])]
            for gamma in settings["gammas"]:
                accuracies.setdefault(f"γ = {gamma:g}", []).append(penalised(
                    parts[0], parts[2], parts[1], parts[3], gamma, settings["penalties"]))
    return {name: {x: float(np.mean([of[x] for of in each])) for x in each[0]}
            for name, each in accuracies.items()}


def _measure_probes(settings: Mapping[str, Any], seed: int) -> Series:
    bag = {BAG_ROW + name: row for name, row in _probe_rows("lesson-bag", seed, settings).items()}
    return controlled(_probe_rows)(settings, seed) | bag


def _costs_at_best(m: Series, kind: str = "") -> bool:
    """Whether whitened vectors are classified worse, each with its best penalty."""
    return max(m[kind + "γ = 1"].values()) < max(m[kind + "γ = 0"].values()) - 0.5


def _draw_probes(entry: Any, measured: Series) -> Any:
    gammas = [row for row in measured if row.startswith("γ") and not row.endswith(CONTROL)]
    panels = {name: {row: measured[before + row + after] for row in sorted(gammas)}
              for name, before, after in (("LessonBERT", "", ""), ("untrained", "", CONTROL),
                                          ("lesson-bag", BAG_ROW, ""))
              if before + gammas[0] + after in measured}
    return line_panels(panels, title="Whitening costs a classifier only where a penalty holds it",
                       xlabel="penalty, 1 / C", ylabel="accuracy, %", xscale="log", size=4.2,
                       ticks=PENALTIES[::2])


ENTRIES = (
    declared("godey2024_shift", _measure_shifts, lambda entry, m: line_panels(
        {"": {row + end: m[row + end] for row in PARTS for end in ("", OTHER_CONTROL)}},
        title="Untrained attention makes much of a small common vector",
        xlabel="norm of the added vector, in norms of an input", linear=0.1,
        ylabel="mean cosine of tokens in different texts", ylim=(-0.04, 1.04), size=5.0),
             SHIFT_SCALES,
             alike=lambda m: m["the whole block"][1.0] > 0.4 and m["the whole block"][0.0] < 0.05,
             attention=lambda m: m["attention alone"][0.1] > m["inputs"][0.1] + 0.2,
             block=lambda m: all(y > m["inputs"][x] for x, y in m["the whole block"].items())),
    declared("jiang2022_tokens", _measure_tokens, _draw_tokens, TOKEN_SCALES,
             better=lambda m: _gains(m, STATIC),
             layers=lambda m: m[LAST + COSINE][0] < m[STATIC + COSINE][0]
             and m[LAST][0] <= m[STATIC][0],
             cone=lambda m: _gains(m, STATIC) and _stays(m, STATIC),
             other=lambda m: OTHER in m and _gains(m, OTHER) and _stays(m, OTHER)),
    declared("mickus2024_clusters", _measure_clusters, _draw_clusters, CLUSTER_SCALES,
             drawn=lambda m: all((np.diff(list(m[f"{what}, drawn"].values())) * sign > 0).all()
                                 for what, sign in (("IsoScore", -1), ("silhouette", 1))),
             clustered=_clustered, costs=_costs,
             raw=lambda m: all(m[f"accuracy, {name}, {RAW}"][0] > m[f"accuracy, {name}"][0]
                               for name in _kinds(m))),
    declared("steck2024_figure1", _measure_scalings, _draw_scalings, STECK_SCALES,
             free=lambda m: _free(m) and m["same cluster"][2] > m["same cluster"][1] + 0.3,
             alone=lambda m: _free(m) and m["largest"][1] < 1e-9,
             turned=lambda m: _free(m) and m["nearer"][3] < 0.1),
    declared("forooghi2024_penalty", _measure_probes, _draw_probes, PROBE_SCALES,
             undone=lambda m: abs(m["γ = 1"][least := min(m["γ = 1"])] - m["γ = 0"][least]) < 0.5,
             costs=_costs_at_best, bag=lambda m: _costs_at_best(m, BAG_ROW)),
)
