/* Uplift: learned lists compared with the holdout, over a period and since the start. */

import { choices, el, why } from "../dom.js";
import { difference, many, measured, moment } from "../format.js";

const PERIODS = { "24h": "24 hours", "7d": "7 days", "28d": "28 days" };

export function of({ uplift, uplift_in_period, pays, pays_in_period, period, holdout }) {
  return [uplift, uplift_in_period, pays, pays_in_period, period, holdout];
}

export function draw(overview, page) {
  if (!overview.holdout && !overview.uplift) return [el("h2", null, "Uplift"), el("p", { class: "unknown" }, overview.pays), withoutHoldout()];
  const periods = PERIODS[overview.period] ? PERIODS : { ...PERIODS, [overview.period]: overview.period };
  return [
    el("h2", null, "Uplift"),
    el("p", { class: "lead" }, "Learned lists compared with the holdout, which shows the control order."),
    choices("Period", periods, overview.period, (period) => page.change({ period })),
    el(
      "div",
      { class: "sides" },
      compared(`Last ${periods[overview.period]}`, overview.uplift_in_period, overview.pays_in_period, "in-period"),
      compared("Since the start", overview.uplift, overview.pays, "since-start"),
    ),
    why(
      "How is the uplift measured?",
      "Each view is assigned at random: most show a learned list, and the holdout shows the control order. The uplift is the difference between the two.",
      "Points are percentage points: from 10\u202f% to 12\u202f% is 2 points, or 20\u202f% more clicks.",
      "Both intervals are anytime-valid: you may look as often as you like. The API also has fixed-horizon intervals, which are narrower and valid for one planned look. “Since the start” includes the first days, when there was little data.",
    ),
  ];
}

function withoutHoldout() {
  return why(
    "How can I measure the uplift?",
    "With a holdout: a random share of the views that shows the control order. Set it under Settings; 5\u202f% to 10\u202f% is usual.",
  );
}

function compared(title, uplift, sentence, id) {
  const head = el("h3", null, title);
  if (!uplift) return el("div", { id }, head, el("p", { class: "unknown" }, sentence));
  const { measure } = uplift;
  const ends = uplift.anytime;
  const clear = ends && (ends.low > 0 ? "good" : ends.high < 0 ? "bad" : null);
  const what = measure === "value_per_view" ? "value per view" : "click rate";
  const arm = (text, of) => [el("b", null, measured(of[measure], measure)), ` ${text} (${many(of.shown, "view")})`];
  const write = (number) => difference(number, measure);
  return el(
    "div",
    { id },
    head,
    el("p", { class: clear ? `verdict ${clear}` : "verdict" }, sentence),
    el(
      "p",
      { class: clear ? "figure" : "figure unclear" },
      el("b", null, write(uplift.difference)),
      el("span", null, ends ? `${what}; 95\u202f% anytime-valid interval ${write(ends.low).replace(" points", "")} to ${ends.high === null ? "no upper limit" : write(ends.high)}` : `${what}, so far`),
    ),
    el("p", { class: "arms n" }, arm("learned", uplift.learned), " against ", arm("holdout", uplift.holdout)),
    uplift.since ? el("p", { class: "quiet small" }, `Views since ${moment(uplift.since)}.`) : null,
  );
}
