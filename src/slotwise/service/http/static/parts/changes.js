/* The change list, newest first; the charts mark the same times. */

import { ask, path, Refused, Unreachable } from "../api.js";
import { inFull } from "../changes.js";
import { el, swap } from "../dom.js";
import { count, moment } from "../format.js";

const AT_FIRST = 5;
/** The number of listed changes, kept when the part is drawn again. */
const view = { listed: AT_FIRST };

export function of({ version }) {
  return version;
}

export function draw(_, page) {
  const list = el("div", { id: "changes-list" });
  load(list, page);
  return [el("h2", null, "Changes"), el("p", { class: "lead" }, "Changes of this placement, made here or through the API. The charts above mark the same times."), list];
}

async function load(list, page) {
  try {
    const { body } = await ask(path("placements", page.name, "changes"), { signal: page.signal });
    show(list, body.changes);
  } catch (problem) {
    // the top of the page shows whether the service responds
    if (!(problem instanceof Unreachable || problem instanceof Refused || problem.name === "AbortError")) throw problem;
  }
}

function show(list, changes) {
  const left = changes.length - view.listed;
  swap(
    list,
    changes.length
      ? el("ol", { class: "changes", id: "changes-of" }, changes.slice(0, view.listed).map(row))
      : el("p", { class: "unknown" }, "No changes are recorded."),
    left > 0 ? el("button", { type: "button", "data-key": "more-changes", onclick: () => ((view.listed = Infinity), show(list, changes)) }, `Show ${count(left)} more`) : null,
  );
}

function row(change) {
  return el(
    "li",
    { "data-version": change.version },
    el("time", { datetime: change.time }, moment(change.time)),
    el("ul", null, inFull(change).map((text) => el("li", null, el("bdi", null, text)))),
  );
}
