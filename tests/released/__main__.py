"""Write the files of this version, which must not be out yet."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

os.environ["SLOTWISE_COMPILE"] = "never"

from slotwise import __version__
from tests.released import FOLDER, write_files

with tempfile.TemporaryDirectory() as temporary:
    write_files(FOLDER / __version__, Path(temporary))
print(FOLDER / __version__)
