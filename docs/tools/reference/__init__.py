"""Parts of the reference that are generated from the code.

A page holds `<!-- generated: NAME -->` and `<!-- end -->`; the text in between is that of the function of this name in
`BLOCKS`. `python -m docs.tools reference` writes it, and a test compares it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from docs.tools.reference import (
    command_line,
    http_api,
    python_api,
    result_tables,
    schema_tables,
    service_tables,
    typescript,
)
from docs.tools.site import ROOT

BLOCKS: dict[str, Callable[[], str]] = {
    "placement-fields": schema_tables.placement_fields,
    "window-fields": schema_tables.window_fields,
    "item-fields": schema_tables.item_fields,
    "decision-fields": schema_tables.decision_fields,
    "http-api": http_api.operations,
    "status-codes": http_api.status_codes,
    "estimates-fields": http_api.estimates_fields,
    "settings": service_tables.settings,
    "metrics": service_tables.metrics,
    "alerts": service_tables.alerts,
    "command-line": command_line.commands,
    "policies": python_api.policies,
    "public-names": python_api.public_names,
    "client-methods": python_api.client_methods,
    "node-client": typescript.node_client,
    "peers": result_tables.peers,
    "performance": result_tables.performance,
    "traffic": result_tables.traffic,
}
OPENAPI = ROOT / "docs" / "reference" / "openapi.json"
_BLOCK = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def generated_files() -> Iterator[tuple[Path, str]]:
    """Every file that holds generated text, with the text that it should have."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text()
        if _BLOCK.search(text):
            yield page, _BLOCK.sub(lambda block: f"{block[1]}\n{BLOCKS[block[2]]().strip()}\n\n{block[3]}", text)
    yield OPENAPI, json.dumps(http_api.document(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def stale_files() -> dict[Path, str]:
    """Files whose generated text is not that of the code, with the text that they should have."""
    return {page: text for page, text in generated_files() if not page.exists() or page.read_text() != text}


def write_reference() -> list[Path]:
    """Write the generated text into its files; those that changed."""
    stale = stale_files()
    for page, text in stale.items():
        page.write_text(text)
    return [*stale]
