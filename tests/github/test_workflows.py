"""The workflows of the public repository: they parse, call targets that exist, and pin every action."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from release.programs import supported_versions

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()


def _jobs(workflow: Path) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load(workflow.read_text())["jobs"]
    return jobs


def _steps(workflow: Path) -> list[dict[str, Any]]:
    return [step for job in _jobs(workflow).values() for step in job["steps"]]


def _named(names: list[Path]) -> list[str]:
    return [path.stem for path in names]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=_named(WORKFLOWS))
def test_every_target_of_a_workflow_is_in_the_makefile(workflow: Path) -> None:
    targets = {*re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE)}
    called = set()
    for step in _steps(workflow):
        for line in re.findall(r"^make (.+)$", step.get("run", ""), re.MULTILINE):
            # an expression names its targets in quotes
            called |= {*re.findall(r"'([\w-]+)'", line)} - {"schedule"} if "${{" in line else {*line.split()}
    assert called
    assert called <= targets


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=_named(WORKFLOWS))
def test_every_action_is_pinned_to_a_commit_and_names_its_version(workflow: Path) -> None:
    used = re.findall(r"uses: (.+)$", workflow.read_text(), re.MULTILINE)
    assert len(used) == sum("uses" in step for step in _steps(workflow)) > 0
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=_named(WORKFLOWS))
def test_a_workflow_may_do_no_more_than_it_needs(workflow: Path) -> None:
    assert yaml.safe_load(workflow.read_text())["permissions"] == {"contents": "read"}
    assert "secrets." not in workflow.read_text()
    # text from outside goes through a variable, never into a script
    scripts = [step["run"] for step in _steps(workflow) if "run" in step]
    assert [script for script in scripts if re.search(r"\$\{\{ *github\.(ref|head|event\.(?!_))", script)] == []


def test_the_tests_run_on_every_supported_python_and_system() -> None:
    matrix = _jobs(ROOT / ".github" / "workflows" / "test.yml")["test"]["strategy"]["matrix"]
    assert matrix["python"] == supported_versions()
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu", "macos"}


def test_a_tag_publishes_what_was_built_and_checked_before() -> None:
    jobs = _jobs(ROOT / ".github" / "workflows" / "publish.yml")
    assert any(step.get("run") == "make release-check" for step in jobs["build"]["steps"])
    for name in ("python", "node"):
        assert jobs[name]["needs"] == "build"
        # the registry trusts the workflow: there is no token to steal
        assert jobs[name]["permissions"] == {"id-token": "write"}
        assert jobs[name]["environment"]
    assert jobs["python"]["strategy"]["matrix"]["name"] == ["slotwise_client", "slotwise"]


def test_the_tag_is_compared_with_a_line_that_is_there() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text().splitlines()


@pytest.mark.parametrize("form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda f: f.stem)
def test_a_form_for_issues_asks_for_something(form: Path) -> None:
    content = yaml.safe_load(form.read_text())
    assert {"name", "description", "body"} <= content.keys()
    assert any(field.get("validations", {}).get("required") for field in content["body"])
