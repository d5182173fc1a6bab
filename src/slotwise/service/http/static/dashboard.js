/* The dashboard: finds out which page this is, follows it, and says how it stands with the service. */

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

/** What a page is given: where to draw, until when, and how to say how it stands. */
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
  live.textContent = { live: "Live", lost: "No answer", refused: "Refused" }[state];
  banner.hidden = state !== "lost";
  if (state === "lost") banner.textContent = "The service does not answer. What is below is from before; it is asked again until it is back.";
  else banner.textContent = "";
  if (state === "refused") refused(why);
}

function refused(problem) {
  // what was refused may have been sent before the right key was typed into a dialog
  if (problem.status === 401) return problem.key === getKey() ? askForKey() : start();
  document.title = "slotwise";
  swap(main, el("h1", null, problem.status === 404 ? "There is no such placement" : "This cannot be shown"), el("p", null, sentence(problem.message)), el("p", null, el("a", { href: "/" }, "All placements")));
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
    el("h1", null, "This service has a key"),
    wrong ? el("p", { id: "wrong", class: "note", role: "alert" }, "That key is not the right one.") : null,
    el("label", { for: "key" }, "Key"),
    field,
    el("button", { type: "submit" }, "Open"),
    el("p", { class: "quiet small" }, "It is what SLOTWISE_SERVER_KEY was set to. It stays in this tab, and is forgotten with it."),
  );
  swap(main, form);
  field.focus();
}

// a dialog was given the right one
addEventListener("slotwise-key", start);
await start();
