/* Checks that need attention, with what to do; nothing if there are none. */

import { el } from "../dom.js";

export function of({ checks, state }) {
  return [checks, state.kind];
}

export function draw({ checks, state }) {
  // the sentence above has a drift already
  const found = checks.filter(({ id, level }) => level === "look" && !(id === "drift" && state.kind === "changed"));
  if (!found.length) return [];
  return [
    el("h2", { class: "hidden" }, "Needs attention"),
    el(
      "ul",
      { class: "attention" },
      found.map(({ id, sentence, advice }) => el("li", { class: "note", "data-check": id }, el("b", null, sentence), " ", advice)),
    ),
  ];
}
