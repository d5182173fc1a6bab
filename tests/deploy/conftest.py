from __future__ import annotations

from tests.plain_python import nothing_is_compiled

__all__ = ["nothing_is_compiled"]
