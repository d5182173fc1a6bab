from __future__ import annotations

from tests.conftest import interpreting, paper_users, small

__all__ = ["interpreting", "paper_users", "small"]
