"""Passwords: drawn, checked, and not kept."""

from __future__ import annotations

import json

from lessons_lib.classroom.hub import new_accounts, right_password


def test_each_name_gets_a_password_of_its_own_that_opens_its_door_alone():
    passwords, kept = new_accounts(["anna", "bo"])
    assert len(set(passwords.values())) == 2 and all(len(p) >= 12 for p in passwords.values())
    for name in passwords:
        assert [right_password(kept, name, p)
                for p in passwords.values()] == [name == other for other in passwords]


def test_what_is_kept_holds_no_password_and_two_equal_ones_look_different():
    passwords, kept = new_accounts(["anna", "bo"])
    assert not any(password in json.dumps(kept) for password in passwords.values())
    assert len({account["salt"] for account in kept.values()}) == 2


def test_nobody_comes_in_without_an_account():
    _, kept = new_accounts(["anna"])
    assert not right_password(kept, "eve", "") and not right_password(kept, "anna", "")
    assert not right_password({}, "anna", "x")
