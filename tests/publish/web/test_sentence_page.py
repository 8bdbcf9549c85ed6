"""The page in which a sentence becomes a vector: its JavaScript gives what our Python gives, and
the page is one file that asks nobody for anything.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from lessons_lib.contextual import (BertSize, LessonBertForPretraining, Pooling, WordPiece,
                                    load_encoder, save_bert)
from lessons_lib.contextual.loading import lesson_bert_folder
from lessons_lib.datasets import SentencePairs, load
from lessons_lib.evaluation import pair_cosines, spearman
from lessons_lib.isotropy import Whitening
from lessons_lib.publish.web import sentence_page as made
from lessons_lib.publish.web.pages import read_page
from lessons_lib.publish.web.sources import SENTENCE_PAGE

HERE = Path(__file__).parent
WORDS = ("sea", "field", "ships", "sail", "cows", "graze", "unbelievable", "walking", "harbour")
ODD = ["", "   ", "猫在沙发上睡觉。sea", "Ségolène, naïve SEA", "the 🐄 and the ships 👩‍👩‍👧",
       "a\0b\0", "\ufffd", "[SEP] sea [MASK]", "sea" * 40, "s" * 100, "s" * 101, "sea " * 2000,
       "x" * 10_000, "İstanbul ẞ", "sea\u00a0sail\u2028cows\u200bgraze\u0378",
       "e\u0301e\u0323\u0302", "ﬁeld", "Σας", "--sea,ships!!", "\u0939\u093f\u0928\u094d", "한국어",
       "a\u034fb", "\U0001f1e9\U0001f1ea", "\ue000sea\U000f0000"]
SIZES = {"dim": 24, "layers": 2, "heads": 2, "feed_forward": 40, "positions": 64}


@pytest.fixture(scope="module")
def node() -> str:
    if not (program := shutil.which("node")):
        pytest.skip("node is not installed; apt-get install nodejs, or see nodejs.org")
    return program


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with a BERT at random, pairs of sentences, and their page."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(2, 12))) + "." for _ in range(120)]
    pieces = WordPiece.train(texts, size=60)
    folder = tmp_path_factory.mktemp("tiny")
    bert = LessonBertForPretraining(BertSize(len(pieces), **SIZES), seed=1)
    with torch.no_grad():                      # else attention is even and norms are all alike
        for weight in bert.parameters():
            weight += 0.3 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(3))
    save_bert(folder, bert, pieces, card={"name": "tiny"},
              film={"all_counts": np.arange(len(pieces), dtype=np.int32)})
    pairs = SentencePairs(texts[:60], texts[60:], rng.uniform(0, 5, 60))
    page = folder / SENTENCE_PAGE
    page.write_text(made.sentence_page(folder, pairs), "utf-8")
    return folder, pairs, page


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The page of the course's own model."""
    folder, pairs = lesson_bert_folder(), load("course-sts")
    page = tmp_path_factory.mktemp("real") / SENTENCE_PAGE
    page.write_text(made.sentence_page(folder, pairs), "utf-8")
    return folder, pairs, page


def answers(node, page, folder, *, tokens=(), vectors=(), longest=64):
    """What the scripts of a page say of texts."""
    asked = folder / "questions.json"
    asked.write_text(json.dumps({"tokens": list(tokens), "vectors": list(vectors),
                                 "longest": longest}), "utf-8")
    script = made.PARTS / "encoder.js"
    done = subprocess.run([node, HERE / "sentence.js", page, script, asked], capture_output=True,
                          encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def encoders(folder):
    """The two models of the page in Python: with rounded weights, and with weights by chance."""
    trained, untrained = (load_encoder(folder, device="cpu") for _ in range(2))
    with torch.no_grad():
        made.quantise(trained.reader.model)
        made.untrain(untrained.reader.model)
    return {"trained": trained, "untrained": untrained}


def cosine_of_rows(x, y):
    return (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)


def check_vectors(node, folder, pairs, page, texts, *, place, steps=made.STEPS):
    """Every pooling and layer of the page, and these β and γ, against Python."""
    told = answers(node, page, place, vectors=texts)
    sentences = list(dict.fromkeys([*pairs.sentence1, *pairs.sentence2]))
    for name, encoder in encoders(folder).items():
        for head in (head for text in told["attention"][name] for block in text for head in block):
            rows = np.reshape(head, (int(len(head) ** 0.5), -1))
            assert np.allclose(rows.sum(1), 1, atol=1e-5)
        for how in made.POOLINGS:
            poolings = [Pooling(how, layer) for layer in range(encoder.layers + 1)]
            each = zip(encoder.encode_each(texts, poolings),
                       encoder.encode_each(sentences, poolings), strict=True)
            for layer, (ours, x) in enumerate(each):
                key = f"{name}.{how}.{layer}"
                theirs = told["vectors"][key]
                assert cosine_of_rows(ours, np.array(theirs)).min() > 1 - 1e-6, key
                if f"{key}.1.1" not in told["whitened"]:
                    assert how == "cls" and layer == 0
                    continue
                whitening = Whitening(gamma=0).fit(x)
                least = max(made.VARIES * whitening.spectrum_[0], made.SEEN * np.square(x).mean())
                for beta in steps:
                    for gamma in steps:
                        about = Whitening(beta=beta, gamma=0).fit(whitening.moments_)
                        k = int(np.count_nonzero(about.spectrum_ > least))
                        z = Whitening(k, beta=beta, gamma=gamma, threshold=0).fit(
                            whitening.moments_).transform(ours)
                        got = told["whitened"][f"{key}.{beta:g}.{gamma:g}"]
                        want = cosine_of_rows(np.repeat(z[:1], len(z) - 1, 0), z[1:])
                        assert np.allclose(got["cosines"], want, atol=1e-3), (key, beta, gamma)
                        plane = np.abs(z[:, :2])           # the sign of an axis is free
                        assert np.allclose(np.abs(got["plane"]), plane, atol=2e-3 * plane.max())


def test_the_page_is_one_file_with_all_that_it_needs(tiny):
    folder, pairs, page = tiny
    seen, text = read_page(page), page.read_text("utf-8")
    assert seen.loads == [] and seen.nameless == []
    assert not re.search(r"/\* (data|tensors|\w+\.(js|css)) \*/", text)
    assert {"text0", "text1", "pooling", "layer", "beta", "gamma", "cloud"} <= seen.ids
    scripts = "".join(re.findall(r"<script>(.*?)</script>", text, re.DOTALL))
    scripts = scripts.replace("http://www.w3.org/2000/svg", "")           # a name, not a place
    assert not re.search(r"\bfetch\(|XMLHttpRequest|\bimport\b[ (]|Worker\(|https?://", scripts)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["pieces"] == WordPiece.load(folder).pieces
    assert len(data["pairs"]) == len(pairs.score)


def test_eight_bits_keep_the_largest_of_each_row_and_zeros():
    matrix = np.array([[0, 0, 0], [1.27, -0.635, 0.0149], [-3, 1e-9, 0]])
    tensors = made.rounded("w", matrix)
    back = tensors["w"] * tensors["w.scale"][:, None]
    assert tensors["w"].dtype == np.int8 and np.abs(tensors["w"]).max() == 127
    assert (np.abs(back - matrix) <= tensors["w.scale"][:, None] / 2 + 1e-7).all()


def test_the_scripts_cut_odd_text_as_our_tokenizer_does(tiny, node, tmp_path):
    folder, _, page = tiny
    rng = np.random.default_rng(0)
    alphabet = [*"seashipfld ÉßİΣǅ,.!¿「。猫🐄", "\u0301", "\u200d", "\0", "\t", "\u2009", "\u0ee0"]
    texts = [*ODD, *("".join(rng.choice(alphabet, size=rng.integers(0, 30))) for _ in range(500))]
    told = answers(node, page, tmp_path, tokens=texts, longest=10**9)["ids"]
    ours = WordPiece.load(folder).encode(texts)
    assert [ids[1:-1] for ids in told] == ours
    cut = answers(node, page, tmp_path, tokens=texts, longest=24)["ids"]
    assert [ids[1:-1] for ids in cut] == [ids[:22] for ids in ours]


def test_half_a_pair_of_surrogates_is_dropped(tiny, node, tmp_path):
    _, _, page = tiny
    told = answers(node, page, tmp_path, tokens=["sea\ud83d", "\udc04sea", "sea"])["ids"]
    assert told[0] == told[1] == told[2]


@pytest.mark.essential
def test_the_scripts_give_our_vectors_by_every_setting(tiny, node, tmp_path):
    folder, pairs, page = tiny
    texts = [*pairs.sentence1[:6], "walking 猫", ""]
    check_vectors(node, folder, pairs, page, texts, place=tmp_path)


@pytest.mark.slow
def test_the_tokens_of_all_course_sentences_and_of_every_character_are_ours(real, node, tmp_path):
    folder, _, page = real
    every = [f"a{chr(code)}b" for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    pairs, nli = load("course-sts", split="all"), load("course-nli", split="all")
    texts = [*pairs.sentence1, *pairs.sentence2, *nli.premise, *nli.entailment,
             *nli.contradiction, *ODD, *every]
    told = answers(node, page, tmp_path, tokens=texts, longest=10**9)["ids"]
    ours = WordPiece.load(folder).encode(texts)
    assert [text for text, a, b in zip(texts, told, ours, strict=True) if a[1:-1] != b] == []


@pytest.mark.slow
def test_of_the_course_s_model_eight_bits_cost_nearly_nothing_and_the_page_is_small(
        real, node, tmp_path):
    folder, pairs, page = real
    assert page.stat().st_size < 25e6
    whole, rounded = load_encoder(folder, device="cpu"), encoders(folder)["trained"]
    texts = [*pairs.sentence1, *pairs.sentence2]
    x, y = whole.encode(texts), rounded.encode(texts)
    cosines = cosine_of_rows(x, y)
    assert cosines.mean() >= 0.999 and cosines.min() >= 0.99
    left = np.arange(len(pairs.score))
    agreement = [spearman(pair_cosines(z, left, left + len(left)), pairs.score) for z in (x, y)]
    assert agreement[0] == pytest.approx(agreement[1], abs=0.001)
    # a whitening of 256 directions takes its time, and the small model has tried every step
    check_vectors(node, folder, pairs, page, [*texts[:8], *ODD[:5]], place=tmp_path,
                  steps=(0.0, 1.0))
