"""Two pages of plain HTML without any script: the placements' estimates, and what can be asked over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

MOST_PLACEMENTS: Final = 20
MOST_ITEMS: Final = 20

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: .5rem 0 1.5rem } caption { text-align: left; color: #666 }
th, td { text-align: right; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left } th { font-weight: 600 }
h2 { margin-top: 2.5rem } code, pre { font-size: .9em } pre { background: #f5f5f5; padding: .8rem; overflow: auto }
a { color: #06c } .note { color: #666 }
"""


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1>{body}</body></html>"
    )


def _table(caption: str, heads: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def overview(estimates: Mapping[str, Any], placements: int) -> str:
    """The placements and what is known of them."""
    parts = [
        '<p><a href="/docs">HTTP interface</a> · <a href="/metrics">metrics</a> · <a href="/readyz">readiness</a></p>'
    ]
    if not estimates:
        parts.append("<p>There is no placement yet: <code>PUT /v1/placements/NAME</code> makes one.</p>")
    for name, found in estimates.items():
        parts.append(_placement(name, found))
    if placements > len(estimates):
        parts.append(f'<p class="note">and {placements - len(estimates):,} more placements</p>')
    return _page("slotwise", "".join(parts))


def _placement(name: str, found: Mapping[str, Any]) -> str:
    decisions = found["decisions"]
    counts = ", ".join(f"{decisions[kind]:,} {kind.replace('_', ' ')}" for kind in decisions)
    best = sorted(found["items"], key=lambda item: -item["attractiveness"])
    rows = [
        [
            item["id"],
            f"{item['attractiveness']:.3g}",
            f"{item['low']:.3g} – {item['high']:.3g}",
            f"{item['probability_in_best_list']:.0%}",
            f"{item['shown']:,}",
            f"{item['clicks']:,}",
        ]
        for item in best[:MOST_ITEMS]
    ]
    more = f", the first {MOST_ITEMS} of {len(best):,}" if len(best) > MOST_ITEMS else ""
    slots = [
        [str(slot["slot"]), f"{slot['estimate']:.3g}", f"{slot['low']:.3g} – {slot['high']:.3g}"]
        for slot in found["position_bias"]
    ]
    return (
        f"<h2>{escape(name)}</h2><p>Decisions: {escape(counts)}.{escape(_uplift(found['uplift']))}</p>"
        + _table(
            f"Items by attractiveness{more}",
            ["item", "attractiveness", "95 %", "in best list", "shown", "clicks"],
            rows,
        )
        + _table("Slots: how much they are seen, beside the first", ["slot", "position bias", "95 %"], slots)
    )


def _uplift(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    learned, holdout = (found[arm]["click_rate"] for arm in ("learned", "holdout"))
    return (
        f" Click rate {learned:.2%} against {holdout:.2%} in the holdout, "
        f"a difference of {found['difference']:+.2%} ({found['low']:+.2%} to {found['high']:+.2%})."
    )


def documentation(openapi: Mapping[str, Any]) -> str:
    """The OpenAPI document, to be read."""
    parts = [
        '<p>Also as <a href="/openapi.json">OpenAPI</a>. Requests carry <code>Authorization: Bearer KEY</code>.</p>'
    ]
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2>")
            parts.append(f"<p>{escape(operation.get('description', ''))}</p>")
            if "requestBody" in operation:
                schema = next(iter(operation["requestBody"]["content"].values()))["schema"]
                parts.append(f"<p>Body</p><pre>{escape(json.dumps(schema, indent=1, ensure_ascii=False))}</pre>")
            rows = [[status, answer["description"]] for status, answer in sorted(operation["responses"].items())]
            parts.append(_table("Answers", ["status", "meaning"], rows))
    return _page("slotwise over HTTP", "".join(parts))
