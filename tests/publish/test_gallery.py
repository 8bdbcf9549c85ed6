"""The gallery of ``figures/``: up to date with the records, complete, and with links that exist."""

from __future__ import annotations

import re

import pytest

from lessons_lib import cli
from lessons_lib.core import PROJECT, DataMissing
from lessons_lib.publish.gallery import gallery, write_gallery
from lessons_lib.reproduce import entries, recorded
from lessons_lib.reproduce.entry import FAILS

FIGURES = PROJECT / "figures"


def test_the_page_is_up_to_date_has_every_record_whole_and_links_that_exist():
    page = gallery(FIGURES)
    assert (FIGURES / "README.md").read_text("utf-8") == page, "run lessons reproduce --gallery"
    for file in FIGURES.glob("*.json"):
        entry, record = entries()[file.stem], recorded(file.stem)
        for words in (f"![{entry.alt}]({record.picture.name})", f'<a id="{entry.id}"></a>',
                      f"]({entry.id}.json)", f"*Why:* {entry.why}" if record.failed else "",
                      *(f"- {'**fails**' if verdict == FAILS else verdict}: {claim}"
                        for claim, verdict in record.verdicts.items())):
            assert words in page, words
    count = re.search(r"Of (\d+) claims (\d+) hold .*, (\d+) hold for the control too, and "
                      r"(\d+) fail", page)
    total, *parts = map(int, count.groups())
    assert total == sum(parts) == len(re.findall(r"^- (?:holds|\*\*fails)", page, re.MULTILINE))
    for target in re.findall(r"\]\(([^)]+)\)", page):
        assert (f'<a id="{target[1:]}"></a>' in page if target.startswith("#")
                else (FIGURES / target).exists()), target


def test_the_command_writes_the_page_of_a_folder_and_a_folder_without_records_is_refused(
        tmp_path, monkeypatch, capsys):
    for name in ("su2021_table1.json", "su2021_table1.svg"):
        (tmp_path / name).write_bytes((FIGURES / name).read_bytes())
    monkeypatch.setattr("sys.argv", ["lessons", "reproduce", "--gallery", "--out", str(tmp_path)])
    assert cli.main() == 0 and "written:" in capsys.readouterr().out
    assert "su2021_table1" in (tmp_path / "README.md").read_text("utf-8")
    with pytest.raises(DataMissing, match="holds no record"):
        write_gallery(tmp_path / "none")
