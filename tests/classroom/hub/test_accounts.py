"""Passwords: drawn, checked, and not kept."""

from __future__ import annotations

import json

from lessons_lib.classroom.hub import new_accounts, right_password


def test_each_name_gets_a_password_that_opens_its_door_alone_and_is_not_kept():
    passwords, kept = new_accounts(["anna", "bo"])
    assert len(set(passwords.values())) == 2 and all(len(p) >= 12 for p in passwords.values())
    for name in passwords:
        assert [right_password(kept, name, p)
                for p in passwords.values()] == [name == other for other in passwords]
    assert not any(password in json.dumps(kept) for password in passwords.values())
    assert len({account["salt"] for account in kept.values()}) == 2
    assert not right_password(kept, "eve", "") and not right_password(kept, "anna", "")
    assert not right_password({}, "anna", "x")
