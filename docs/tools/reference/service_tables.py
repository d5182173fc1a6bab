"""Tables of the service's settings, metrics and alerts."""

from __future__ import annotations

import inspect
import re
from types import SimpleNamespace
from typing import Any

import yaml  # type: ignore[import-untyped]
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from docs.tools.reference.schema_tables import plain, type_text
from docs.tools.site import ROOT
from slotwise.service.http.middleware.request_metrics import Watch
from slotwise.service.metrics import WorkerMetrics, _FromStore
from slotwise.service.service_settings import Settings


def settings() -> str:
    """Every setting with its variable, type, default and meaning; comments in the source are the meanings."""
    schema = Settings.model_json_schema()
    lines = ["| setting | variable | type | default | meaning |", "| --- | --- | --- | --- | --- |"]
    meanings = _comments()
    for name, field in Settings.model_fields.items():
        kind = type_text(schema["properties"][name], schema.get("$defs", {}))
        default = field.default
        shown = default.get_secret_value() if isinstance(default, SecretStr) else default
        variable = f"`SLOTWISE_{name.upper()}`"
        lines.append(f"| `{name}` | {variable} | {kind} | `{shown if shown != '' else '(empty)'}` | {meanings[name]} |")
    return "\n".join(lines)


def _comments() -> dict[str, str]:
    """The comment above each setting; settings below one comment share it."""
    meanings, current = {}, ""
    for line in inspect.getsource(Settings).splitlines():
        comment, field = re.match(r"\s+#: (.*)", line), re.match(r"    (\w+): ", line)
        if comment:
            current = comment[1]
        elif field:
            meanings[field[1]] = current
            if field[1] in ("store", "host", "port", "workers", "log_level"):
                current = ""
    known = {
        "store": "`sqlite:///FILE` or `postgresql://…`",
        "host": "the address to listen on",
        "port": "0 for any free port",
        "workers": "processes",
        "log_level": "the least severe messages that are logged",
    }
    return {**meanings, **known}


def metrics() -> str:
    """Every metric with its labels and meaning."""
    worker, http = WorkerMetrics(), CollectorRegistry()

    async def nothing(*_: object) -> None: ...

    Watch(nothing, http)

    no_placements: Any = SimpleNamespace(counters={}, staleness=lambda: 0.0)
    lines = ["| metric | type | read from | meaning |", "| --- | --- | --- | --- |"]
    for source, found in (
        ("the store", _FromStore(no_placements).collect()),
        ("the worker", [*worker.registry.collect(), *http.collect()]),
    ):
        for metric in found:
            name = f"{metric.name}_total" if metric.type == "counter" else metric.name
            of = "the worker" if "staleness" in name else source
            lines.append(f"| `{name}` | {metric.type} | {of} | {plain(metric.documentation)} |")
    return "\n".join(lines)


def alerts() -> str:
    """Every alert with its condition."""
    rules = yaml.safe_load((ROOT / "deploy" / "slotwise_rules.yml").read_text())["groups"][0]["rules"]
    lines = ["| alert | severity | after | summary |", "| --- | --- | --- | --- |"]
    for rule in rules:
        summary = re.sub(r"\{\{ \$labels\.(\w+) \}\}", r"\1", rule["annotations"]["summary"])
        summary = re.sub(r"\{\{ \$value[^}]*\}\}", "N", summary)
        lines.append(
            f"| `{rule['alert']}` | {rule['labels']['severity']} | {rule.get('for', '0m')} | {plain(summary)} |"
        )
    return "\n".join(lines)
