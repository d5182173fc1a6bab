"""The alerts and the dashboard ask for what a running service exports."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

from tests.service.serving import Client, serving

DEPLOY = Path(__file__).parents[2] / "deploy"
#: labels that Prometheus adds to what it scrapes, and one of histograms
ADDED = {"instance", "job", "le"}
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="there is no promtool: apt install prometheus"
)
MATCHER = re.compile(r'(\w+)\s*(=~|=)\s*"([^"]*)"')


def alerts() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((DEPLOY / "slotwise_rules.yml").read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DEPLOY / "grafana_dashboard.json").read_text())
    return found


def expressions() -> dict[str, str]:
    """All that is asked of Prometheus, by where it is asked."""
    asked = {alert["alert"]: alert["expr"] for alert in alerts()}
    for panel in dashboard()["panels"]:
        asked |= {f"{panel['title']} {target['refId']}": target["expr"] for target in panel["targets"]}
    asked |= {variable["name"]: variable["query"] for variable in dashboard()["templating"]["list"]}
    return asked


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """By name, the labels of everything that a service exports which has seen a bit of everything."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db", server_key="k") as client:
        return dict(exported(client))


def exported(client: Client) -> Iterator[tuple[str, list[dict[str, str]]]]:
    assert client.get("/v1/placements").status_code == 401
    client.headers["Authorization"] = "Bearer k"
    client.define()
    decisions = [client.decide() for _ in range(4)]
    client.report(decisions[0], clicked=[*decisions[0]["items"]], value=2.0)
    client.beacon(decisions[1], clicked=None)
    client.report(decisions[2], shown=False)
    client.settle()
    client.wait_for_snapshot()
    for family in text_string_to_metric_families(client.get("/metrics").text):
        found: dict[str, list[dict[str, str]]] = {}
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
        yield from found.items()


@pytest.mark.parametrize("where", expressions())
def test_every_metric_that_is_asked_for_is_exported(samples: dict[str, list[dict[str, str]]], where: str) -> None:
    expression = expressions()[where]
    names = re.findall(r"\bslotwise_\w+", expression)
    assert names or expression.startswith('up{job="slotwise"}') or where == "source"
    for name in names:
        assert name in samples, name


@pytest.mark.parametrize("where", expressions())
def test_every_queried_label_and_value_exists(samples: dict[str, list[dict[str, str]]], where: str) -> None:
    expression = expressions()[where]
    for name, matchers in re.findall(r"\b(slotwise_\w+)\{([^}]*)\}", expression):
        for label, operator, value in MATCHER.findall(matchers):
            values = {labels[label] for labels in samples[name]}
            if label == "status":
                # a service that fails is not at hand
                assert "401" in values
            elif operator == "=":
                assert value in values, (name, label)
            elif not value.startswith("$"):
                assert all(part in values for part in value.split("|")), (name, label)
    known = ADDED | {label for name in re.findall(r"\bslotwise_\w+", expression) for label in samples[name][0]}
    for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
        assert {label.strip() for label in labels.split(",")} <= known


def promtool(*arguments: str, folder: Path) -> None:
    ran = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@needs_promtool
def test_alerts_are_raised_when_they_should_be_and_only_then(tmp_path: Path) -> None:
    for file in (DEPLOY / "slotwise_rules.yml", Path(__file__).parent / "rules_test.yml"):
        shutil.copy(file, tmp_path)
    promtool("check", "rules", "slotwise_rules.yml", folder=tmp_path)
    promtool("test", "rules", "rules_test.yml", folder=tmp_path)


def test_every_alert_is_raised_by_simulated_hours() -> None:
    made_up = (Path(__file__).parent / "rules_test.yml").read_text()
    assert {alert["alert"] for alert in alerts()} == set(re.findall(r'alertname="(\w+)"', made_up))


@needs_promtool
def test_prometheus_parses_the_queries_of_the_panels(tmp_path: Path) -> None:
    asked = [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]
    # what Grafana puts in
    filled = [expression.replace("$__rate_interval", "5m").replace("$placement", ".*") for expression in asked]
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(filled)]
    (tmp_path / "panels.yml").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    promtool("check", "rules", "panels.yml", folder=tmp_path)


def test_every_metric_is_drawn_somewhere(samples: dict[str, list[dict[str, str]]]) -> None:
    drawn = " ".join(expressions().values())
    families = {re.sub("_(total|bucket|count|sum|created)$", "", name) for name in samples}
    assert {name for name in families if name not in drawn} == set()


def test_every_alert_has_a_remedy_and_a_severity() -> None:
    for alert in alerts():
        assert alert["labels"]["severity"] in ("page", "ticket")
        assert len(alert["annotations"]["summary"]) > 30
    assert len({alert["alert"] for alert in alerts()}) == len(alerts())


def test_the_prometheus_configuration_loads_the_rules() -> None:
    told = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    assert all((DEPLOY / name).is_file() for name in told["rule_files"])
    assert [job["job_name"] for job in told["scrape_configs"]] == ["slotwise"]


def test_panels_do_not_lie_on_each_other() -> None:
    panels = dashboard()["panels"]
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)
