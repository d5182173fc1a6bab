"""What a release brings along: a software bill of materials, and the licences of all dependencies."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from release.distributions import DIST
from release.installs import Installation, extras
from release.programs import ReleaseFault, newest_python, run


def write_inventory(folder: Path = DIST) -> list[Path]:
    """Write `sbom.cdx.json` (CycloneDX) and `licences.md` of the wheel with all extras."""
    materials, licences = folder / "sbom.cdx.json", folder / "licences.md"
    with tempfile.TemporaryDirectory() as temporary:
        installed = Installation(Path(temporary) / "env", newest_python(), ",".join(extras()), folder)
        interpreter = installed.bin / "python"
        written = Path(temporary) / "sbom.json"
        run(["cyclonedx-py", "environment", "--output-reproducible", "-o", written, interpreter])
        materials.write_text(json.dumps(without_addresses(json.loads(written.read_text())), indent=1) + "\n")
        options = ["--format=markdown", "--order=license", f"--output-file={licences}"]
        run(["pip-licenses", f"--python={interpreter}", *options])
    nameless = [line for line in licences.read_text().splitlines() if "UNKNOWN" in line.upper()]
    if nameless:
        raise ReleaseFault("these dependencies name no licence:\n" + "\n".join(nameless))
    return [materials, licences]


def without_addresses(entry: object) -> object:
    """A copy without the addresses that packages were downloaded from.

    >>> without_addresses({"name": "a", "externalReferences": [{"type": "distribution", "url": "https://x"}]})
    {'name': 'a', 'externalReferences': []}
    """
    if isinstance(entry, list):
        kept = [item for item in entry if not (isinstance(item, dict) and item.get("type") == "distribution")]
        return [without_addresses(item) for item in kept]
    if isinstance(entry, dict):
        return {name: without_addresses(value) for name, value in entry.items()}
    return entry
