"""Checks of the built files that install nothing: metadata, contents, container file, chart."""

from __future__ import annotations

import re
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from release.distributions import CHART, DIST, SOURCES, npm_archive, source_archive, wheel
from release.programs import ReleaseFault, run
from release.versions import ROOT, project_version, stated_versions

#: values with which the chart is rendered: each branch of its templates at least once
CHART_VALUES: dict[str, tuple[str, ...]] = {
    "sqlite": (),
    "postgresql": ("store=postgresql", "replicas=3", "workers=4"),
    "ingress": (
        "ingress.enabled=true",
        "ingress.host=shop.example",
        "ingress.tlsSecret=tls",
        "ingress.className=nginx",
    ),
    "settings": ("settings.SLOTWISE_ROOT_PATH=/slotwise", "persistence.storageClass=fast", "nodeSelector.disk=ssd"),
}
#: an address of a package registry in the metadata would tie a release to one
_REGISTRY = re.compile(rb"https?://[^\s\"']*(?:pypi\.|/simple/|artifactory)", re.IGNORECASE)


def check_versions() -> None:
    """Every file states the version of the project."""
    expected = project_version()
    for file, versions in stated_versions().items():
        if {*versions} != {expected}:
            raise ReleaseFault(f"{file} states version {', '.join(versions)}, but pyproject.toml {expected}")


def check_metadata(folder: Path = DIST) -> None:
    """The metadata can be published, and the wheels hold what they should."""
    built = [made(name, folder) for name in SOURCES for made in (wheel, source_archive)]
    run(["twine", "check", "--strict", *built])
    for name in SOURCES:
        run(["check-wheel-contents", wheel(name, folder)])


def check_no_registry(folder: Path = DIST) -> None:
    """No built file names a package registry."""
    for built in sorted(folder.iterdir()):
        for name, content in _contents(built):
            found = _REGISTRY.search(content)
            if found:
                raise ReleaseFault(f"{built.name}: {name} names a package registry: {found[0].decode()}")


def _contents(built: Path) -> Iterator[tuple[str, bytes]]:
    if built.suffix == ".whl":
        with zipfile.ZipFile(built) as packed:
            yield from ((name, packed.read(name)) for name in packed.namelist())
    elif built.suffix in (".gz", ".tgz"):
        with tarfile.open(built) as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is not None:
                    yield member.name, content.read()


def check_container_file() -> None:
    """hadolint finds nothing in the container file."""
    run(["hadolint", "--failure-threshold", "style", ROOT / "deploy" / "Containerfile"])


def rendered_chart(values: tuple[str, ...] = ()) -> str:
    """The manifests of the chart for some values."""
    return run(["helm", "template", "shop", CHART, *(word for value in values for word in ("--set", value))])


def check_chart() -> None:
    """The chart passes `helm lint`, and its manifests the schemas of Kubernetes."""
    run(["helm", "lint", "--strict", CHART])
    with tempfile.TemporaryDirectory() as folder:
        for name, values in CHART_VALUES.items():
            manifests = Path(folder) / f"{name}.yaml"
            manifests.write_text(rendered_chart(values))
            run(["kubernetes-validate", "--strict", "--quiet", manifests])


def check_node_package(folder: Path = DIST) -> None:
    """The packed client for Node installs from its archive alone, and can be imported."""
    with tempfile.TemporaryDirectory() as project:
        (Path(project) / "package.json").write_text('{"private": true, "type": "module"}')
        run(["npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", npm_archive(folder)], Path(project))
        script = 'import * as client from "slotwise-client"; console.log(Object.keys(client).join(" "))'
        names = run(["node", "--input-type=module", "--eval", script], Path(project)).split()
        if "Client" not in names:
            raise ReleaseFault(f"the package for Node exports {names}, without Client")
