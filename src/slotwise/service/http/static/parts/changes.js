/* The change list: what was changed in the placement and when, the newest first; the charts mark the same moments. */

import { ask, path, Refused, Unreachable } from "../api.js";
import { inFull } from "../changes.js";
import { el, swap } from "../dom.js";
import { count, moment } from "../format.js";

const AT_FIRST = 5;
/** How many are listed stays when the numbers move on. */
const asked = { most: AT_FIRST };

export function of({ version }) {
  return version;
}

export function draw(_, page) {
  const list = el("div", { id: "changes-list" });
  load(list, page);
  return [el("h2", null, "Changes"), el("p", { class: "lead" }, "What was changed in this placement, here or over HTTP. The charts above mark the same moments."), list];
}

async function load(list, page) {
  try {
    const { body } = await ask(path("placements", page.name, "changes"), { signal: page.signal });
    show(list, body.changes);
  } catch (problem) {
    // whether the service answers is said at the top of the page
    if (!(problem instanceof Unreachable || problem instanceof Refused || problem.name === "AbortError")) throw problem;
  }
}

function show(list, changes) {
  const left = changes.length - asked.most;
  swap(
    list,
    changes.length
      ? el("ol", { class: "changes", id: "changes-of" }, changes.slice(0, asked.most).map(row))
      : el("p", { class: "unknown" }, "None are on record."),
    left > 0 ? el("button", { type: "button", "data-key": "more-changes", onclick: () => ((asked.most = Infinity), show(list, changes)) }, `Show ${count(left)} more`) : null,
  );
}

function row(change) {
  return el(
    "li",
    { "data-version": change.version },
    el("time", { datetime: change.time }, moment(change.time)),
    el("ul", null, inFull(change).map((said) => el("li", null, el("bdi", null, said)))),
  );
}
