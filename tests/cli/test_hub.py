"""``lessons hub`` and ``lessons npm`` from the command line."""

from __future__ import annotations

import stat

import pytest

from lessons_lib.classroom.hub import measured, read_hub, room_for


def test_a_hub_is_written_with_the_measured_limit_and_what_to_do_next(lessons, tmp_path):
    (tmp_path / "names.txt").write_text("anna\nbo\n")
    code, out, _ = lessons("hub", "write", str(tmp_path / "class"),
                       str(tmp_path / "names.txt"), "chen", "--idle", "45")
    hub, accounts = read_hub(tmp_path / "class")
    # or pytest could not remove it
    for path in (tmp_path / "class" / "course", *(tmp_path / "class" / "course").rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    assert code == 0 and "a hub for 3 students" in out
    assert f"python -m lessons_lib hub start {tmp_path / 'class'}" in out
    assert hub.students == ("anna", "bo", "chen") and hub.idle_minutes == 45 and set(accounts) == {
        "anna", "bo", "chen", "teacher"}
    assert hub.memory_gb == room_for(3, measured()).limit_gb


def test_a_new_password_is_shown_and_said_to_need_a_start(lessons, tmp_path):
    from lessons_lib.classroom.hub import Hub

    Hub(("anna",)).save(tmp_path, {})
    code, out, _ = lessons("hub", "password", str(tmp_path), "anna", "bo")
    assert code == 0 and "anna" in out and "when it starts again" in out and read_hub(tmp_path)[
        0].students == ("anna", "bo")
    assert sum(word in out for word in (tmp_path / "passwords.csv").read_text().replace(
                   "\n", ",").split(",")[3::2]) == 2


def test_a_course_is_brought_up_to_date(lessons, monkeypatch, tmp_path):
    from lessons_lib.classroom import hub

    asked = []
    monkeypatch.setattr(hub, "update_course", asked.append)
    code, out, _ = lessons("hub", "update", str(tmp_path))
    assert code == 0 and asked == [tmp_path] and "is up to date" in out


def test_the_size_of_a_machine_is_told_with_the_measurement_it_comes_from(lessons):
    code, out, _ = lessons("hub", "size", "--students", "12")
    room = room_for(12, measured())
    assert code == 0 and f"12 students: 6 cores, and {room.memory_gb:g} GB" in out
    assert "simcse" in out and measured().date in out
    assert "12 x 0.5" in out and f"12 x {measured().together_mb:,.0f} MB" in out
    alone = lessons("hub", "size", "--students", "1")[1]
    assert "1 student: 1 core, and" in alone and "1 cores" not in alone


def test_a_measurement_is_shown_and_kept_only_when_asked_to(lessons, monkeypatch, tmp_path):
    from lessons_lib.classroom import hub

    kept = []
    monkeypatch.setattr(hub, "measure", lambda **_: measured())
    monkeypatch.setattr(hub, "write_measured",
                        lambda found: kept.append(found) or tmp_path / "hub.json")
    assert lessons("hub", "measure")[0] == 0 and kept == []
    code, out, _ = lessons("hub", "measure", "--keep")
    assert code == 0 and "with all open" in out and kept == [measured()]


@pytest.mark.parametrize(
    "arguments, text",
    [(("hub", "write", "class", "Anna"), "students holds 'Anna'"),
     (("hub", "write", "class", "anna", "--host", "0.0.0.0"), "pass certificate and key"),
     (("hub", "write", "class", "anna", "--spawner", "dokker"), "Did you mean 'docker'"),
     (("hub", "start", "nowhere"), "nowhere"), (("hub", "size", "--students", "0"), "students=0"),
     (("npm", "axes"), "Did you mean 'axe'")])
def test_a_mistake_is_one_line_and_writes_nothing(lessons, monkeypatch, tmp_path, arguments, text):
    monkeypatch.chdir(tmp_path)
    code, _out, err = lessons(*arguments)
    assert code == 2 and text in err and list(tmp_path.iterdir()) == []
