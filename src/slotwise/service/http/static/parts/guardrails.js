/* Guardrails: events whose rate with learned lists must not fall below the holdout's; nothing if there are none. */

import { el, why } from "../dom.js";
import { interval, percent } from "../format.js";

const SIGNS = { holds: ["✓", "fine"], unclear: ["–", "unknown"], broken: ["!", "look"] };

export function of({ guardrails }) {
  return guardrails;
}

export function draw({ guardrails }) {
  if (!guardrails?.length) return [];
  return [
    el("h2", null, "Guardrails"),
    el("p", { class: "lead" }, "Events that learned lists must not make rarer than the holdout does."),
    el("ul", { class: "checks", id: "guardrails-list" }, guardrails.map(row)),
    why("When is a guardrail broken?", "If the rate of its event is lower than in the holdout by more than its margin. The 95\u202f% anytime-valid interval of the ratio decides. It then sends an alert, or also shows the control order to everybody: the list of changes has the time."),
  ];
}

function row({ metric, state, sentence, learned, holdout, ratio, worse_by }) {
  const [sign, level] = SIGNS[state];
  const rates = ratio ? `${percent(learned)} with learned lists, ${percent(holdout)} in the holdout; ` : "";
  const ends = ratio ? `; ratio ${interval(ratio.anytime.low, ratio.anytime.high)} (95\u202f% anytime-valid interval)` : "";
  const details = `${rates}may be lower by ${percent(worse_by, 0)}${ends}.`;
  return el(
    "li",
    { "data-metric": metric, "data-level": level },
    el("span", { class: "sign", "aria-hidden": "true" }, sign),
    el("span", null, sentence, el("small", { class: "quiet n" }, ` ${details}`)),
  );
}
