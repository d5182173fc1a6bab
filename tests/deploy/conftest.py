from __future__ import annotations

from tests.uncompiled import nothing_is_compiled

__all__ = ["nothing_is_compiled"]
