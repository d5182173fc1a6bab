/* Does it pay: the learned lists against the holdout, over a time to choose, and since the start. */

import { choices, el, why } from "../dom.js";
import { difference, many, measured, moment } from "../format.js";

const PERIODS = { "24h": "24 hours", "7d": "7 days", "28d": "28 days" };

export function of({ uplift, uplift_in_period, pays, pays_in_period, period, holdout }) {
  return [uplift, uplift_in_period, pays, pays_in_period, period, holdout];
}

export function draw(overview, page) {
  if (!overview.holdout && !overview.uplift) return [el("h2", null, "Does it pay?"), el("p", { class: "unknown" }, overview.pays), withoutHoldout()];
  const periods = PERIODS[overview.period] ? PERIODS : { ...PERIODS, [overview.period]: overview.period };
  return [
    el("h2", null, "Does it pay?"),
    el("p", { class: "lead" }, "What the learned lists bring, against the views that show the items as listed."),
    choices("Period", periods, overview.period, (period) => page.change({ period })),
    el(
      "div",
      { class: "sides" },
      compared(`Last ${periods[overview.period]}`, overview.uplift_in_period, overview.pays_in_period, "in-period", false),
      compared("Since the start", overview.uplift, overview.pays, "since-start", true),
    ),
    why(
      "How is this known?",
      "Every view is put at random into one of two groups: most see a learned list, and a few, the holdout, the items in the order in which the placement lists them. The difference between the two is what learning brings.",
      "A point is one of a hundred: from 10\u202f% to 12\u202f% are 2 points, and a fifth more clicks.",
      "Over a period, the interval is for somebody who looks once. Since the start, it may be looked at every day: with a probability of 95\u202f% all of these intervals hold. The first days, when little was known, are in “since the start” and not in a later period.",
    ),
  ];
}

function withoutHoldout() {
  return why(
    "How could it be known?",
    "With a holdout: a small share of the views, put together at random, that show the items in the order given. Set one under Settings; one view in ten or twenty is usual.",
  );
}

function compared(title, uplift, sentence, id, anytime) {
  const head = el("h3", null, title);
  if (!uplift) return el("div", { id }, head, el("p", { class: "unknown" }, sentence));
  const { measure } = uplift;
  const ends = anytime ? uplift.anytime : uplift.low === null ? null : { low: uplift.low, high: uplift.high };
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
      el("span", null, ends ? `${what}; between ${write(ends.low).replace(" points", "")} and ${ends.high === null ? "any more" : write(ends.high)} with a probability of 95\u202f%` : `${what}, so far`),
    ),
    el("p", { class: "arms n" }, arm("learned", uplift.learned), " against ", arm("holdout", uplift.holdout)),
    uplift.since ? el("p", { class: "quiet small" }, `Views since ${moment(uplift.since)}.`) : null,
  );
}
