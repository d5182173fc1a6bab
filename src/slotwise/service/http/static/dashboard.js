/* The dashboard: shows the page of the address, and the state of the connection. */

import { getKey, setKey } from "./api.js";
import { el, swap } from "./dom.js";
import { sentence } from "./format.js";
import { showPlacement } from "./placement.js";
import { showPlacements } from "./placements.js";
import { here } from "./root.js";

const main = document.getElementById("main");
const live = document.getElementById("live");
const banner = document.getElementById("banner");
let ending = new AbortController();

/** Show the page of the address; a page gets an element to draw into, a signal that ends it, and `tell`. */
function start() {
  ending.abort();
  ending = new AbortController();
  const page = { main, signal: ending.signal, tell };
  const [, kind, encoded] = here().split("/");
  if (kind === "placements" && encoded) return showPlacement(page, decodeURIComponent(encoded));
  return showPlacements(page);
}

function tell(state, why) {
  live.dataset.state = state;
  live.textContent = { live: "Live", lost: "No response", refused: "Rejected" }[state];
  banner.hidden = state !== "lost";
  if (state === "lost") banner.textContent = "The service does not respond. The numbers below are from before; the page keeps trying.";
  else banner.textContent = "";
  if (state === "refused") refused(why);
}

function refused(problem) {
  // the request may have been sent before the right key was entered in a dialog
  if (problem.status === 401) return problem.key === getKey() ? askForKey() : start();
  document.title = "slotwise";
  swap(main, el("h1", null, problem.status === 404 ? "Placement not found" : "This page cannot be shown"), el("p", null, sentence(problem.message)), el("p", null, el("a", { href: "/" }, "All placements")));
}

function askForKey() {
  const wrong = getKey() !== null;
  setKey(null);
  const field = el("input", { type: "password", autocomplete: "current-password", required: true, id: "key", "aria-describedby": wrong ? "wrong" : null, "aria-invalid": wrong ? "true" : null });
  const form = el(
    "form",
    {
      class: "key-form",
      onsubmit: (event) => {
        event.preventDefault();
        setKey(field.value.trim());
        start();
      },
    },
    el("h1", null, "API key required"),
    wrong ? el("p", { id: "wrong", class: "note", role: "alert" }, "This API key is wrong.") : null,
    el("label", { for: "key" }, "API key"),
    field,
    el("button", { type: "submit" }, "Open"),
    el("p", { class: "quiet small" }, "The value of SLOTWISE_SERVER_KEY. It is stored in this tab until you close it."),
  );
  swap(main, form);
  field.focus();
}

// the right key was entered in a dialog
addEventListener("slotwise-key", start);
await start();
