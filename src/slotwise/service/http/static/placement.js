/* The page of one placement, in parts.
 *
 * A part is a module with `of(overview)`, the data that it depends on, and `draw(overview, page)`, its elements. It is
 * drawn again only if that data changes. `page` is {name, view, change, signal}: `view` holds the viewer's choices
 * (period, segment, range, slot), and `change({period: "28d"})` changes them.
 */

import { canChange, path } from "./api.js";
import { el, swap } from "./dom.js";
import { follow } from "./live.js";
import * as attention from "./parts/attention.js";
import * as changes from "./parts/changes.js";
import * as connect from "./parts/connect.js";
import * as filter from "./parts/filter.js";
import * as guardrails from "./parts/guardrails.js";
import * as health from "./parts/health.js";
import * as items from "./parts/items.js";
import * as list from "./parts/list.js";
import * as pays from "./parts/pays.js";
import * as segments from "./parts/segments.js";
import * as slots from "./parts/slots.js";
import * as state from "./parts/state.js";
import * as time from "./parts/time.js";

/** Parts by name, in order; the two of a pair are side by side if there is room. */
const LAYOUT = [{ state }, { attention }, { connect }, { filter }, { pays, list }, { guardrails }, { time }, { items }, { slots, segments }, { health }, { changes }];
/** Parts of a placement without a decision; `connect` is empty from the first one on. */
const AT_FIRST = new Set(["state", "connect", "items", "changes"]);
const DEFAULTS = { period: "start", range: "", slot: "1" };

/** Messages after a number of seconds without a first response. */
const WAITING = [
  [1, "Computing the estimates …"],
  [6, "Still computing. On a new machine the first time takes up to a minute, because slotwise compiles its code. Decisions are served meanwhile."],
];

/** Show one placement and keep it up to date. */
export function showPlacement({ main, signal, tell }, name) {
  document.title = `${name} · slotwise`;
  const sections = new Map();
  const waiting = el("p", { id: "waiting", class: "quiet", role: "status" });
  const timers = WAITING.map(([seconds, words]) => setTimeout(() => (waiting.textContent = words), seconds * 1000));
  swap(
    main,
    waiting,
    LAYOUT.map((row) => {
      const drawn = Object.keys(row).map((part) => {
        sections.set(part, { part: row[part], before: null, section: el("section", { id: part, class: ["state", "attention", "filter"].includes(part) ? null : "section" }) });
        return sections.get(part).section;
      });
      return drawn.length > 1 ? el("div", { class: "pair" }, drawn) : drawn[0];
    }),
  );
  let asking = new AbortController();
  const page = { name, signal, view: chosen(), change };

  function change(choice) {
    Object.assign(page.view, choice);
    remember(page.view);
    start();
  }

  function show(overview) {
    timers.forEach(clearTimeout);
    waiting.remove();
    for (const [part, one] of sections) {
      const drawn = overview.decisions.issued > 0 || AT_FIRST.has(part);
      const now = JSON.stringify([drawn, canChange(), one.part.of(overview), page.view]);
      if (now === one.before) continue;
      one.before = now;
      swap(one.section, drawn ? one.part.draw(overview, page) : []);
    }
    main.dataset.ready = "";
  }

  function start() {
    asking.abort();
    asking = new AbortController();
    const { period, segment } = page.view;
    const query = new URLSearchParams(period === "start" ? {} : { period });
    for (const one of segment) query.append("segment", one);
    return follow(`${path("placements", name, "overview")}${query.size ? `?${query}` : ""}`, show, tell, AbortSignal.any([signal, asking.signal]));
  }

  time.prefetch(page);
  addEventListener("slotwise-changed", start, { signal });
  return start();
}

/** The viewer's choices, from the address: they survive a reload, and a link contains them. */
function chosen() {
  const query = new URLSearchParams(location.search);
  const single = Object.fromEntries(Object.entries(DEFAULTS).map(([key, fallback]) => [key, query.get(key) ?? fallback]));
  return { ...single, segment: query.getAll("segment") };
}

function remember(view) {
  const query = new URLSearchParams();
  for (const [key, fallback] of Object.entries(DEFAULTS)) if (view[key] !== fallback) query.set(key, view[key]);
  for (const one of view.segment) query.append("segment", one);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
}
