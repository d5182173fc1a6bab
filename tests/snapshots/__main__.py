"""Write the snapshots, or those that are named."""

from __future__ import annotations

import json
import sys

from tests.snapshots import FOLDER, SNAPSHOTS

for name in sys.argv[1:] or SNAPSHOTS:
    content = json.dumps(SNAPSHOTS[name](), indent=1, sort_keys=True)
    (FOLDER / f"{name}.json").write_text(content + "\n")
    print(name)
