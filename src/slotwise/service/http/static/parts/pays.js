/* Uplift: learned lists compared with the holdout, since the start or over a period. */

import { choices, el, why } from "../dom.js";
import { amount, count, many, moment, perThousand, unit } from "../format.js";

/** "start" is no period: the anytime-valid interval is for a start that stays. */
const PERIODS = { start: "since the start", "24h": "24 hours", "7d": "7 days", "28d": "28 days" };

export function of({ uplift, uplift_in_period, pays, pays_in_period, period, holdout }) {
  return [uplift, uplift_in_period, pays, pays_in_period, period, holdout];
}

export function draw(overview, page) {
  if (!overview.holdout && !overview.uplift) return [el("h2", null, "Uplift"), el("p", { class: "unknown" }, overview.pays), withoutHoldout()];
  const { period } = page.view;
  const moves = period !== "start";
  return [
    el("h2", null, "Uplift"),
    el("p", { class: "lead" }, "Learned lists compared with the holdout, which shows the control order."),
    choices("Period", PERIODS[period] ? PERIODS : { ...PERIODS, [period]: period }, period, (chosen) => page.change({ period: chosen })),
    moves ? card(overview.uplift_in_period, overview.pays_in_period) : card(overview.uplift, overview.pays),
    moves ? el("p", { class: "quiet small", id: "moves" }, "This period moves on with the time, so its verdict may change. The one since the start holds however often you look.") : null,
    why(
      "How is the uplift measured?",
      "Each view is assigned at random: most show a learned list, and the holdout shows the control order. The uplift is the difference between the two, adjusted for segment and hour.",
      "The interval is a 95\u202f% anytime-valid confidence interval: since the start, you may look as often as you like. The API also has the fixed-horizon interval, which is narrower and valid for one planned look.",
    ),
  ];
}

function withoutHoldout() {
  return why(
    "How can I measure the uplift?",
    "With a holdout: a random share of the views that shows the control order. Set it under Settings; 5\u202f% to 10\u202f% is usual.",
  );
}

function card(uplift, sentence) {
  if (!uplift) return el("p", { class: "unknown", id: "uplift-card" }, sentence);
  const { measure, learned, holdout, anytime } = uplift;
  const clear = anytime && (anytime.low > 0 ? "good" : anytime.high !== null && anytime.high < 0 ? "bad" : null);
  const ends = anytime && `95\u202f% anytime-valid interval ${perThousand(anytime.low)} to ${anytime.high === null ? "no upper limit" : perThousand(anytime.high)}`;
  const arm = (text, of) => [el("b", null, amount(1000 * of[measure])), ` ${text} (${many(of.shown, "view")})`];
  return el(
    "div",
    { id: "uplift-card" },
    el("p", { class: clear ? `verdict ${clear}` : "verdict" }, sentence),
    el("p", { class: clear ? "figure" : "figure unclear" }, el("b", null, perThousand(uplift.difference)), el("span", null, `${unit(measure)}; ${ends ?? "so far"}`)),
    el("p", { class: "arms n" }, arm("with learned lists", learned), " against ", arm("in the holdout", holdout)),
    clear ? el("p", { class: "arms n" }, total(uplift)) : null,
    uplift.since ? el("p", { class: "quiet small" }, `Views since ${moment(uplift.since)}.`) : null,
  );
}

/** The gain or loss of all views with learned lists. */
function total({ measure, difference, learned }) {
  const what = measure === "value_per_view" ? "in value" : Math.abs(difference * learned.shown) >= 1.5 ? "clicks" : "click";
  const number = Math.abs(difference * learned.shown);
  const rounded = measure === "value_per_view" ? amount(number) : count(Number(number.toPrecision(2)));
  return `That is about ${rounded} ${what} ${difference > 0 ? "gained" : "lost"} so far.`;
}
