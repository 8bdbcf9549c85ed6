"""Publishers' files, served on this machine, become ours; what fails leaves a clear line and
nothing else. Their formats are tested in `test_readers`."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lessons_lib.core import (PROJECT, DamagedFile, DataMissing, DataWarning, DownloadFailed,
                              cache_folder)
from lessons_lib.datasets import (catalogue, checksum_of, conditions, download, get, list_datasets,
                                  load, publishers, receipt_of, registered, registry, verify)
from lessons_lib.datasets.canonical import row_sums_of
from lessons_lib.datasets.conversion import downloads, make_file
from lessons_lib.datasets.tables import read_table

from .conftest import COLUMNS, ROWS, packed

LINES = ["\t".join([*row.values(), subset]) for row, subset in zip(ROWS, "xy", strict=True)]
TABLE = "\n".join([*LINES, ""]).encode()
OTHER = TABLE.replace(b"4.4", b"4.6")
WAY = {"reader": "table", "columns": [*COLUMNS, "subset"], "parts": [{"files": ["sts.tsv"]}]}
BASE = WAY | {"base": ["SITE/"]}
ZIP = WAY | {"archive": ["SITE/x.zip"]}
HUB = WAY | {"base": [f"hf://datasets/mteb/small@{'0' * 40}/"]}
HUB_PATH = f"/datasets/mteb/small/resolve/{'0' * 40}/sts.tsv"
UNKNOWN = {"exact": None, "folded": None, "rows": None}


@pytest.fixture
def made(publish, site):
    """Gets ``small`` from a server that holds ``body``, and says where it lies."""
    def make(body: bytes = TABLE, way: dict = BASE, **file: object) -> Path:
        publish(way, **file)
        site.files["/sts.tsv"] = body
        return get("small")[0]
    return make


def our_cache() -> Path:
    return cache_folder() / "data/sts/small.tsv"


def test_the_very_rows_are_kept_with_a_receipt_and_without_a_word(made, site, left):
    path = made()
    assert load("small").score.tolist() == [4.4, 0.0] and load("small").subset == ["x", "y"]
    receipt = receipt_of(path)
    known = ("exact", "publisher 0", f"{site.url}/")
    assert (receipt.proof, receipt.source, receipt.address) == known
    assert left() == ["data/sts/small.tsv", "data/sts/small.tsv.origin.json"]
    assert verify(["small"])[0].state == "ok"
    get("small")
    assert len(site.requests) == 1  # what is whole is not fetched again


def test_the_same_rows_written_otherwise_are_kept_with_a_notice(publish, site):
    rows = [{"score": 0.0, "sentence1": "Two dogs run.", "sentence2": "RAIN falls."},
            {"score": 4.4000001, "sentence1": "A plane takes off.",
             "sentence2": "An air-plane ascends."}]
    publish({"reader": "json lines", "columns": {c: c for c in COLUMNS},
             "parts": [{"files": ["x.jsonl.gz"]}], "base": ["SITE/"]})
    site.files["/x.jsonl.gz"] = gzip.compress("\n".join(map(json.dumps, rows)).encode())
    with pytest.warns(DataWarning, match="publisher 0: the same rows .* differ .* without subset"):
        (path,) = get("small")
    assert receipt_of(path).proof == "folded" and load("small").sentence1[0] == "Two dogs run."
    states = [verify(["small"], rows=rows)[0].state for rows in (False, True)]
    assert states == ["same rows, written otherwise"] * 2


def test_another_sample_is_taken_only_where_that_is_declared(made):
    with pytest.warns(DataWarning, match="not the rows that the course measured on"):
        path = made(OTHER, BASE | {"sample": True})
    assert load("small").score[0] == 4.6 and verify(["small"])[0].state == "another sample"
    file = registered("small").files[0]  # what is trained on it names this text, not the course's
    assert checksum_of(file) == receipt_of(path).sha256 != file.sha256


NPZ = {"reader": "vectors", "sample": True, "archive": ["SITE/x.zip"],
       "parts": [{"files": ["g.txt"], "dim": 3, "keep": 2}]}
POSTS = {"reader": "lines", "sample": True, "base": ["SITE/"],
         "parts": [{"files": ["posts"], "set": {"label": "a", "split": "train"}}]}
LABELLED = 'columns = { text = "text", label = "label" }\nsplit_names = ["train"]'


@pytest.mark.parametrize("path, kind, way, file, served, seen", [
    ("words/v.npz", "vectors", NPZ, {"columns": []},
     {"/x.zip": packed({"g.txt": b"the 1 0.5 -1\ncat 2 0 0.25\n"})},
     lambda v: (v.tokens, v["cat"].tolist()) == (["the", "cat"], [2, 0, 0.25])),
    ("wiki/w_0.txt.bz2", "streamed articles", POSTS, {"columns": []},
     {"/posts": b"One.\nTwo.\n\nThree.\n"}, lambda w: list(w) == ["One.\nTwo.", "Three."]),
    *((f"topics/t.tsv{end}", "documents", POSTS,
       {"columns": ["split", "label", "text"], "about": LABELLED}, {"/posts": b"One.\nTwo.\n"},
       lambda d: (d.texts, d.label_names) == (["One.", "Two."], ("a",)))
      for end in ("", ".gz", ".bz2", ".xz"))])
def test_rows_become_the_kind_of_file_that_ours_is(
        publish, site, path, kind, way, file, served, seen):
    publish(way, path=path, kind=kind, **({"extra": [], "of": []} | UNKNOWN | file))
    site.files |= served
    with pytest.warns(DataWarning, match="not the rows"):
        get("small")
    assert seen(load("small"))


def test_arrays_are_proved_by_the_rows_that_came_and_shared_with_their_receipt(
        publish, site, tmp_path, monkeypatch):
    rows = [{"word": "the", "numbers": "1.0 0.3"}, {"word": "cat", "numbers": "-2.0 0.25"}]
    publish({"reader": "json vectors", "archive": ["SITE/w.tgz"],
             "parts": [{"files": ["w.json"], "dim": 2, "keep": 2}]}, path="words/v.npz",
            kind="vectors", of=rows, columns=["word", "numbers"], extra=[])
    text = b'{"vectors":{"the":[1,0.3,1.04,0],"cat":[-2,0.25,2.02,1]},"unkVector":[0,0,0,-1]}'
    site.files["/w.tgz"] = packed({"package/w.json": text}, "gz")
    (path,) = get("small")
    assert receipt_of(path).proof == "exact"
    assert load("small")["the"].tolist() == [1, float(np.float16(0.3))]
    assert [verify(["small"], rows=rows)[0].state for rows in (False, True)] == ["ok", "ok"]
    monkeypatch.setenv("LESSONS_CACHE", str(tmp_path / "another cache"))
    (shared,) = get("small", source=str(path.parents[1]))
    assert shared != path and load("small").tokens == ["the", "cat"]
    site.files["/w.tgz"] = packed({"package/w.json": text.replace(b"0.3", b"0.4")}, "gz")
    monkeypatch.setenv("LESSONS_CACHE", str(tmp_path / "a third cache"))
    with pytest.raises(DownloadFailed, match="other rows: 2 with checksums"):
        get("small")


def test_rows_of_a_file_in_our_own_folder_are_compared_too(publish, fake_data):
    publish(BASE)
    cells = [f"{r['score']}00\t{r['sentence1']} \t{r['sentence2']}" for r in ROWS]
    fake_data("sts/small.tsv", "\n".join(["\t".join(COLUMNS), *cells, ""]))
    assert verify(["small"], rows=True)[0].state == "ok"
    fake_data("sts/small.tsv", "score\tsentence1\tsentence2\n1\ta\tb\n")
    assert verify(["small"], rows=True)[0].state == "changed"


@pytest.mark.parametrize("known, wanted", [
    ({}, "expected those it was made with"), ({"sha256": "0" * 64, "bytes": 5}, "expected 5 with")])
def test_F02_a_file_that_was_changed_after_it_was_made_is_damaged(made, known, wanted):
    path = made(**known)
    path.write_bytes(path.read_bytes().replace(b"4.4", b"4.5"))
    assert verify(["small"])[0].state == "changed"
    with pytest.raises(DamagedFile, match=f"was changed or damaged.*{wanted}"):
        load("small")
    get("small")
    assert load("small").score[0] == 4.4


@pytest.mark.parametrize("proof", ["banana", [], None])
def test_F03_a_damaged_receipt_proves_nothing(made, proof):
    path = made()
    receipt = path.with_name(path.name + ".origin.json")
    receipt.write_text(json.dumps(json.loads(receipt.read_text()) | {"proof": proof}))
    assert verify(["small"])[0].state == "changed"
    get("small")
    assert verify(["small"])[0].state == "ok"


REFUSED = {  # way to it, what the server sends, how it misbehaves, words of the error
    "other rows": (BASE, OTHER, {}, [r"other rows: 2 with checksums \w+… and, folded, \w+…; ",
                                     r"expected 2 with \w+… or \w+…(.|\n)*--from"]),
    "no rows": (BASE | {"drop": {"subset": ["x", "y"]}}, TABLE, {}, ["no rows came"]),
    "no score": (BASE, TABLE.replace(b"4.4", b"x"), {}, ["could not convert"]),
    "no column": (BASE | {"columns": ["score", "sentence1"]}, TABLE, {}, ["no column sentence2"]),
    "too few": (BASE | {"sample": True, "least": 3}, TABLE, {}, ["2 rows .* expected 3 or more"]),
    "not as many": (BASE | {"sample": True}, TABLE, {}, ["2 rows came; expected 3"]),
    "a login": (BASE, b"<!DOCTYPE html><title>Log in</title>", {}, ["an HTML page"]),
    "nothing": (BASE, b"", {}, ["it sent 0 bytes"]),
    "a pointer": (BASE, b"version https://git-lfs.github.com/spec/v1\n", {}, ["a Git LFS pointer"]),
    "404": (BASE, None, {}, [r"sts/small.tsv could not be had: 127.0.0.1: HTTP 404"]),
    "no server": (WAY | {"base": ["http://127.0.0.1:9/"]}, TABLE, {},
                  ["127.0.0.1: ConnectionRefusedError.*3 tries"]),
    "too large": (BASE | {"megabytes": 0.00001}, TABLE, {},
                  [f"it would send {len(TABLE)} bytes; at most 10 are taken"]),
    "too large, unsaid": (BASE | {"megabytes": 0.00001}, TABLE,
                          {"headers": {"Content-Length": "many"}}, ["more than 10 bytes"]),
    "plain http": (BASE, TABLE, {"redirect": "http://example.org/x"}, ["which is not HTTPS"]),
    "no address": (BASE, TABLE, {"redirect": "http://[::1"}, ["its redirect cannot be read"]),
    "packed": (BASE, TABLE, {"headers": {"Content-Encoding": "gzip"}}, ["sent the file packed"]),
    "a parser's own error": (
        BASE | {"quoted": True}, b'1\t"' + b"x" * 17_000_000 + b'"\ta\tb\n', {},
        ["publisher 0: what came cannot be read: Error field"]),
    "a cut zip": (ZIP, packed({"sts.tsv": TABLE})[:-30], {}, ["cut, damaged or no archive"]),
    "a cut tar": (ZIP, packed({"sts.tsv": TABLE}, "gz")[:-60], {}, ["cut, damaged or no archive"]),
    "no zip": (ZIP, b"no archive at all", {}, ["cut, damaged or no archive"]),
    "other members": (ZIP, packed({"x/o.tsv": TABLE}), {}, ["has 0 members 'sts.tsv'; expected 1"]),
    "two": (ZIP, packed({"x/sts.tsv": TABLE, "y/sts.tsv": TABLE}), {}, ["has 2 members"]),
    "outside": (ZIP, packed({"../sts.tsv": TABLE}), {}, ["member '../sts.tsv' is refused"]),
    "a bomb": (ZIP, packed({"x/sts.tsv": bytes(30_000_000)}), {}, ["would come out of"])}


@pytest.mark.parametrize("name", REFUSED)
def test_F18_F20_F22_what_cannot_be_ours_is_refused_and_nothing_of_it_is_kept(
        publish, site, left, name):
    way, body, misbehaviour, words = REFUSED[name]
    publish(way, **({"exact": None, "folded": None, "rows": 3} if name == "not as many" else {}))
    site.files |= {} if body is None else {"/sts.tsv": body, "/x.zip": body}
    for trait, value in misbehaviour.items():
        setattr(site, trait, value)
    with pytest.raises(DownloadFailed) as caught:
        get("small")
    assert all(re.search(word, str(caught.value)) for word in words), caught.value
    assert len(site.requests) <= 1 and [n for n in left() if not n.endswith(".version")] == []


def test_a_file_of_ours_may_be_made_from_others_of_ours(publish, tmp_path):
    publish(WAY | {"base": ["ours:"]})
    (tmp_path / "ours.tsv").write_bytes(TABLE)
    places = {"sts.tsv": tmp_path / "ours.tsv"}
    made = make_file(registered("small").files[0], our_cache(), tmp_path, ours=places.__getitem__)
    assert (made.proof, made.address) == ("exact", "this machine") and len(load("small")) == 2


def test_the_second_address_and_the_second_publisher_take_over(publish, site):
    publish(*(WAY | {"base": ["SITE/gone/", f"SITE/{name}/"]} for name in ("wrong", "b")))
    site.files |= {"/wrong/sts.tsv": OTHER, "/b/sts.tsv": TABLE}
    assert receipt_of(get("small")[0]).address == f"{site.url}/b/"
    asked = [path.split("/")[1] for path, _ in site.requests]
    assert asked == ["gone", "wrong", "gone", "b"]


def test_what_takes_too_long_is_left_and_gone_on_with(publish, site, left):
    publish(BASE | {"minutes": -1})
    site.files["/sts.tsv"], site.etag = TABLE, '"one"'
    with pytest.raises(DownloadFailed, match="all the time it is given; the next call goes on"):
        get("small")
    assert any(".part-" in name for name in left())
    publish(BASE)
    assert receipt_of(get("small")[0]).proof == "exact"


def test_F21_a_cut_transfer_goes_on_only_with_the_same_version(publish, site, left):
    publish(BASE)
    site.files["/sts.tsv"] = TABLE

    def cut(version: str | None) -> None:
        site.cut_at, site.etag = [20, 0, 0, 0], version
        with pytest.raises(DownloadFailed, match="cut after"):
            get("small")
        assert any(".part-" in name for name in left())
        site.cut_at, site.requests = [], []

    for before, after, asked in [
            ('"one"', '"one"', ["bytes=20-"]), ('"one"', '"two"', ["bytes=20-"]),
            ('W/"one"', 'W/"one"', [None]), (None, None, [None])]:
        cut(before)
        site.etag = after
        get("small")
        assert site.ranges_asked == asked and load("small").score.tolist() == [4.4, 0.0]
        our_cache().unlink()
    cut('"one"')
    site.headers = {"Content-Range": "bytes 7-50/90"}
    with pytest.raises(DownloadFailed, match="sent another part of the file"):
        get("small")
    site.headers = {"Content-Length": "many"}  # no number is passed over
    assert receipt_of(get("small")[0]).proof == "exact"


@pytest.mark.parametrize("what", ["datasets.download.os.fsync", "core.files.os.replace"])
def test_F16_a_full_disk_is_named_and_nothing_half_written_stays(made, left, monkeypatch, what):
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"lessons_lib.{what}", full)
    with pytest.raises(OSError, match=r"No space left on device; .* bytes are free") as caught:
        made()
    assert not isinstance(caught.value, DownloadFailed)
    assert [name for name in left() if ".part-" not in name] == []


def test_security_a_server_elsewhere_cannot_redirect_to_this_machine():
    request = download.urllib.request.Request("https://example.org/x")
    redirect = download._SafeRedirects().redirect_request
    with pytest.raises(download._Refused, match="not HTTPS"):
        redirect(request, None, 302, "", {}, "http://127.0.0.1:1/")


def test_two_commands_at_once_do_not_take_each_others_files_away(made):
    dead = cache_folder() / "downloads" / "run-999999999-x"
    dead.mkdir(parents=True)
    with downloads() as mine:
        mine.mkdir(parents=True)
        (mine / "x").write_bytes(b"")
        made()
        assert (mine / "x").is_file() and not dead.exists()
    assert not mine.exists()


def test_4_6_who_waited_for_another_process_finds_the_file_made(made, site, monkeypatch):
    path = made()
    answers = iter([False, False, True])  # asked for the licence, before and after the wait
    monkeypatch.setattr(catalogue, "_whole", lambda file: next(answers))
    assert get("small") == [path] and len(site.requests) == 1


def test_a_cache_made_from_publishers_serves_another_machine_as_a_folder(made, tmp_path):
    path = made(sha256="0" * 64, bytes=5)
    shared = tmp_path / "shared/sts/small.tsv"
    shared.parent.mkdir(parents=True)
    path.rename(shared)
    receipt = receipt_of(get("small", source=str(tmp_path / "shared"))[0])
    assert (receipt.proof, receipt.missing) == ("exact", ())
    assert verify(["small"])[0].state == "ok" and len(load("small")) == 2


def test_a_copy_from_a_folder_is_not_judged_by_the_receipt_of_the_file_before(made, tmp_path):
    with pytest.warns(DataWarning, match="not the rows"):
        path = made(TABLE, BASE | {"sample": True}, **UNKNOWN)
    path.unlink()
    (tmp_path / "sts").mkdir()
    (tmp_path / "sts/small.tsv").write_text("score\tsentence1\tsentence2\n1\ta\tb\n")
    get("small", source=str(tmp_path))
    assert verify(["small"])[0].state == "unchecked" and load("small").score.tolist() == [1.0]


@pytest.mark.parametrize("text", ["score\tsentence1\tsentence2\n1\ta\tb\n", "nothing of it\n"])
def test_F22_a_folder_in_our_layout_with_other_rows_is_refused(publish, tmp_path, left, text):
    publish(BASE)
    (tmp_path / "sts").mkdir()
    (tmp_path / "sts/small.tsv").write_text(text)
    with pytest.raises(DownloadFailed, match="was not copied: "):
        get("small", source=str(tmp_path))
    assert left() == []


def test_a_folder_of_the_publishers_own_files_serves_too(publish, site, tmp_path):
    publish(WAY | {"archive": ["SITE/pub/x.zip"]}, BASE)
    wanted = "holds no sts/small.tsv; .*LESSONS_DATA, or the publisher's own files .*x.zip"
    with pytest.raises(DataMissing, match=wanted):
        get("small", source=str(tmp_path))
    (tmp_path / "x.zip").write_bytes(packed({"d/sts.tsv": TABLE}))
    assert receipt_of(get("small", source=str(tmp_path))[0]).address == str(tmp_path)
    assert site.requests == []


def test_a_licence_with_conditions_is_shown_once(publish, site):
    publish(BASE)
    site.files["/sts.tsv"] = TABLE
    told: list[str] = []
    assert conditions("small") == "small: research only (origin: nobody)"
    for _ in range(2):
        get("small", tell=told.append)
        our_cache().unlink()
    assert told == ["Licence of small: research only (origin: nobody)"]
    assert conditions("small") is None


def test_the_hub_is_asked_by_its_own_library_and_its_cache_is_used_offline(
        publish, site, hub, monkeypatch):
    publish(HUB)
    site.files[HUB_PATH] = TABLE
    assert receipt_of(get("small")[0]).proof == "exact"
    assert list(Path(hub.HF_HUB_CACHE).rglob("sts.tsv"))
    our_cache().unlink()
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    seen = len(site.requests) + site.heads
    assert receipt_of(get("small")[0]).proof == "exact" and len(site.requests) + site.heads == seen


@pytest.mark.parametrize("way, held, offline, why", [
    (HUB, True, True, "HF_HUB_OFFLINE is set"), (HUB, False, False, ""),
    (HUB | {"megabytes": 0.00001}, True, False, f"would send {len(TABLE)} bytes; at most 10 are")])
def test_F20_what_the_hub_does_not_give_is_named(
        publish, site, hub, monkeypatch, way, held, offline, why):
    publish(way)
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", offline)
    site.files |= {HUB_PATH: TABLE} if held else {}
    with pytest.raises(DownloadFailed, match=f"huggingface.co: mteb/small/sts.tsv.*{why}"):
        get("small")


@pytest.fixture
def real_ways(monkeypatch):
    """Replaces the ways to real files by what a function makes of them."""
    real = publishers.read_publishers(publishers.TABLE)

    def put(change) -> None:
        ways = {path: change(ways) for path, ways in real.items()}
        monkeypatch.delenv("LESSONS_DATA")
        monkeypatch.setattr(publishers, "_table", lambda path: ways)
    return put


@pytest.mark.data
@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_the_real_sts_benchmark_in_the_form_of_its_release_has_our_checksum(
        lessons_data, site, real_ways, part):
    table = read_table(lessons_data / "sts" / f"stsb_en_{part}.tsv", COLUMNS)
    real_ways(lambda ways: [replace(ways[0], base=(f"{site.url}/",))])
    order = ("genre", "file", "year", "genre", *COLUMNS)
    rows = zip(*(table[column] for column in order), strict=True)
    site.files[f"/sts-{part}.csv"] = "".join("\t".join(cells) + "\n" for cells in rows).encode()
    (path,) = get("stsb", files=registered("stsb").files_of(part))
    receipt = receipt_of(path)
    assert receipt.proof == "exact" and not receipt.missing
    assert len(load("stsb", part)) == len(table)


@pytest.mark.data
def test_the_real_sts12_as_a_benchmark_keeps_it_is_proved_by_its_folded_rows(
        lessons_data, site, hub, real_ways):
    table = read_table(lessons_data / "sts" / "sts12.tsv", COLUMNS)
    columns = (table.numbers("score").tolist(), table["sentence1"], table["sentence2"])
    rows = [{"score": s, "sentence1": a.capitalize().replace(" .", "."),
             "sentence2": b.replace(" ,", ",")} for s, a, b in zip(*columns, strict=True)]
    real_ways(lambda ways: [way for way in ways if way.base and "mteb" in way.base[0]])
    revision = "a0d554a64d88156834ff5ae9920b964011b16384"
    served = gzip.compress("\n".join(map(json.dumps, reversed(rows))).encode())
    site.files[f"/datasets/mteb/sts12-sts/resolve/{revision}/test.jsonl.gz"] = served
    with pytest.warns(DataWarning, match="the same rows as the course measured on"):
        (path,) = get("sts12")
    assert (receipt_of(path).proof, receipt_of(path).missing) == ("folded", ("subset",))
    assert len(load("sts12")) == 3108


@pytest.mark.data
@pytest.mark.parametrize("name", [
    "stsb", "stsb-zh", "sts12", "sts13", "sts14", "sts15", "sts16", "sick", "nli", "nli-pairs",
    "bbc", "agnews", "senteval", "rareword"])
def test_the_checksums_of_rows_in_the_manifest_are_those_of_the_data_measured_on(
        lessons_data, name):
    for file in registered(name).files:
        if (path := lessons_data / file.path).is_file():
            sums = row_sums_of(read_table(path, file.columns), file.columns)
            assert (sums.rows, sums.exact, sums.folded) == (file.rows, file.exact, file.folded)


def test_every_address_is_https_or_of_the_hub_and_every_file_is_in_the_manifest():
    files = (file for name in registry.dataset_names() for file in registered(name).files)
    known = {file.path: file for file in files}
    for path, ways in publishers.read_publishers(publishers.TABLE).items():
        file = known[path]
        for way in ways:
            addresses = way.base + way.archive
            assert all(a.startswith(("https://", "hf://", "ours:")) for a in addresses), way
            assert way.sample or (file.exact and file.folded and file.columns), path


def test_what_the_issue_asks_for_has_an_address_or_comes_along(no_data):
    rows = {row.name: row for row in list_datasets()}
    wanted = ["stsb", "sts12", "sts13", "sts14", "sts15", "sts16", "sick", "nli", "nli-pairs",
              "nli-simcse", "zh-pairs", "20newsgroups", "imdb", "agnews", "senteval", "wordsim353",
              "simlex999", "men", "rareword", "glove-sample", "wiki", "wiki-sentences",
              "enwiki-frequencies"]
    assert [name for name in wanted if not rows[name].fetchable] == []
    assert rows["analogies"].found.startswith("gensim")


def test_the_readme_of_the_data_shows_the_table_as_it_is_and_when_it_was_looked_up():
    text = (PROJECT / "data" / "README.md").read_text(encoding="utf-8")
    start = "<!-- addresses: lessons data list --addresses -->\n"
    shown = text.split(start)[1].split("<!-- end of addresses -->")[0]
    remedy = "put the output of `lessons data list --addresses` between the two marks"
    assert shown == publishers.publishers_table(), remedy
    assert re.search(r"looked up on \d{4}-\d{2}-\d{2} ", shown)


ENTRY = 'format = 1\n[[publisher]]\nfile = "{}"\nfrom = "x"\nseen = "{}"\nreader = "{}"\n'


@pytest.mark.parametrize("text, error, words", [
    ("", DamagedFile, "is no table of publishers: .*Restore it"),
    ("format = 1", DamagedFile, "is no table of publishers"),
    ('format = 1\n[[publisher]]\nfile = "a"', DamagedFile, "is no table of publishers"),
    *((ENTRY.format("a", *entry) + 'base = ["https://example.org/"]\nparts = [{}]',
       DamagedFile, "no table") for entry in [("guess", "table"), ("file", "guess")]),
    (ENTRY.format("a", "file", "table") + "base = []\nparts = []", DamagedFile, "no table"),
    (ENTRY.format("../a", "file", "table") + 'base = ["https://example.org/"]\nparts = [{}]',
     ValueError, r"path='../a' is not allowed"),
    (ENTRY.format("a", "file", "table") + 'base = ["http://example.org/"]\nparts = [{}]',
     ValueError, "is not allowed; expected an https"),
    ("format = 2", ValueError, "has format 2, this version reads up to 1; upgrade")])
def test_F03_F05_a_table_that_cannot_be_used_says_so(tmp_path, text, error, words):
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(error, match=words):
        publishers.read_publishers(tmp_path / "p.toml")
