"""What a person is told: the one exception, and what to beware of in an answer."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KvcostError", "Notice"]


class Notice(NamedTuple):
    """Something that the reader of a result must know, and what would settle it."""

    code: str
    message: str
    hint: str = ""


class KvcostError(Exception):
    """Bad usage or bad input: one sentence, where it stands, and what mends it.

    `message` says what is wrong, `hint` the change that mends it, `where` the place
    (``file:line:col`` or an option). Shown as ``error: WHERE: MESSAGE`` and ``hint: HINT``
    on stderr; the exit code is 2.

    >>> str(KvcostError("rate without a unit: 100", hint="write 100Gbps", where="--bandwidth"))
    '--bandwidth: rate without a unit: 100'
    """

    def __init__(self, message: str, *, hint: str = "", where: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message

    def at(self, where: str) -> KvcostError:
        """The same error with its place filled in, unless it already has a more exact one."""
        return self if self.where else type(self)(self.message, hint=self.hint, where=where)
