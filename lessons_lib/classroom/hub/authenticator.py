"""Who may log in: the names of ``hub.json``. JupyterHub loads this; nothing else imports it."""

from __future__ import annotations

from typing import Any

from jupyterhub.auth import Authenticator
from traitlets import Dict

from .accounts import right_password

__all__ = ["ClassAuthenticator"]


class ClassAuthenticator(Authenticator):
    """Lets in who is listed. JupyterHub has others for the accounts that a school has already."""

    accounts = Dict(help="name -> salt and hash of the password").tag(config=True)

    async def authenticate(self, handler: Any, data: dict[str, str]) -> str | None:
        """The name, where the password is right; the cost of a try slows down who guesses."""
        name = self.normalize_username(data["username"])
        return name if right_password(self.accounts, name, data["password"]) else None
