"""A password for each student, kept only as a salted hash that takes long to guess."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping

__all__ = ["new_accounts", "right_password"]

LETTERS = "abcdefghkmnpqrstuvwxyz23456789"       # none that looks like another one on paper
LENGTH = 12                                      # 58 bits
COST = {"n": 2**14, "r": 8, "p": 1}              # of scrypt: 16 MB and about 50 ms for each try
# a name that is not known takes as long as one that is
NOBODY = {"salt": "00" * 16, "hash": "00" * 32}


def _hashed(password: str, salt: str) -> str:
    key = hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), dklen=32, **COST)
    return key.hex()


def new_accounts(names: Iterable[str]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Draw passwords: name -> password, to hand out, and name -> salt and hash, to keep."""
    passwords = {name: "".join(secrets.choice(LETTERS) for _ in range(LENGTH)) for name in names}
    kept = {}
    for name, password in passwords.items():
        salt = secrets.token_hex(16)
        kept[name] = {"salt": salt, "hash": _hashed(password, salt)}
    return passwords, kept


def right_password(accounts: Mapping[str, Mapping[str, str]], name: str, password: str) -> bool:
    """Whether this is the password of this name. A name without an account has none."""
    account = accounts.get(name, NOBODY)
    same = hmac.compare_digest(_hashed(password, account["salt"]), account["hash"])
    return same and name in accounts
