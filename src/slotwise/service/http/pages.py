"""Two pages of plain HTML without any script: the placements' estimates, and what can be asked over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from slotwise.page import heading, paragraph, table, whole_page

MOST_PLACEMENTS: Final = 20
MOST_ITEMS: Final = 20

_LINKS = '<p><a href="/docs">HTTP interface</a> · <a href="/metrics">metrics</a> · <a href="/readyz">readiness</a></p>'
_OPENAPI = '<p>Also as <a href="/openapi.json">OpenAPI</a>. With a key: <code>Authorization: Bearer KEY</code>.</p>'


def overview(estimates: Mapping[str, Any], placements: int) -> str:
    """The placements and what is known of them."""
    parts = [heading("slotwise", 1), _LINKS]
    if not estimates:
        parts.append(paragraph("There is no placement yet: PUT /v1/placements/NAME makes one.", "note"))
    for name, found in estimates.items():
        parts += _placement(name, found)
    if placements > len(estimates):
        parts.append(paragraph(f"And {placements - len(estimates):,} more placements."))
    return whole_page("slotwise", parts)


def _placement(name: str, found: Mapping[str, Any]) -> list[str]:
    counts = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in found["decisions"].items())
    best = sorted(found["items"], key=lambda item: -item["attractiveness"])
    items = [
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
    slots = [
        [str(slot["slot"]), f"{slot['estimate']:.3g}", f"{slot['low']:.3g} – {slot['high']:.3g}"]
        for slot in found["position_bias"]
    ]
    more = [paragraph(f"The {MOST_ITEMS} most attractive of {len(best):,} items.")] if len(best) > MOST_ITEMS else []
    return [
        heading(name),
        paragraph(f"Decisions: {counts}.{_uplift(found['uplift'])}"),
        table(["item", "#attractiveness", "#95 %", "#in the best list", "#shown", "#clicks"], items),
        *more,
        table(["slot", "#position bias", "#95 %"], slots),
    ]


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
    parts = [heading("slotwise over HTTP", 1), _OPENAPI]
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            parts += [heading(f"{method.upper()} {path}"), paragraph(operation.get("description", ""))]
            if "requestBody" in operation:
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                parts.append(f"<pre>{escape(json.dumps(schema, indent=1, ensure_ascii=False))}</pre>")
            answers = [[status, answer["description"]] for status, answer in sorted(operation["responses"].items())]
            parts.append(table(["status", "meaning"], answers))
    return whole_page("slotwise over HTTP", parts)
