/* The demo's page: requests the shop's state once a second, draws it, and sends the viewer's changes. */

import { Refused, Unreachable, ask } from "/static/api.js";
import { lineChart } from "/static/charts.js";
import { el, swap } from "/static/dom.js";
import { amount, count, interval, percent, perThousand, unit } from "/static/format.js";
import { learned } from "/demo/static/learned.js";
import { Shelf } from "/demo/static/shelf.js";

const POLL_MILLISECONDS = 1000;
const $ = (id) => document.getElementById(id);
const shelves = Object.fromEntries([...document.querySelectorAll(".shelf")].map((list) => [list.dataset.device, new Shelf(list)]));

let now = null;
let asking = false;

async function poll() {
  if (asking) return;
  asking = true;
  try {
    now = (await ask("/demo/state")).body;
    showConnection("live", "live");
    draw(now);
  } catch (problem) {
    if (!(problem instanceof Unreachable || problem instanceof Refused)) throw problem;
    showConnection("lost", "closed", "The shop is closed; these are its last numbers. slotwise demo opens another one.");
  } finally {
    asking = false;
  }
}

function showConnection(state, word, banner = "") {
  $("live").dataset.state = state;
  $("live").textContent = word;
  $("banner").hidden = !banner;
  if ($("banner").textContent !== banner) $("banner").textContent = banner;
}

function draw(state) {
  const truth = $("truth").checked;
  document.body.classList.toggle("shows-truth", truth);
  sentence(state);
  for (const [device, shelf] of Object.entries(shelves)) shelf.show(state.lists[device], state.items, truth);
  controls(state);
  const chart = $("chart");
  // the viewer may be reading the chart
  if (!chart.matches(":hover, :focus-within") && !chart.querySelector("details[open]")) swap(chart, losses(state));
  swap($("learned"), learned(state, truth));
  $("pays").replaceChildren(...pays(state));
}

function sentence(state) {
  const { best, learned, fixed, by_clicks, visitors } = state.latest;
  if (!visitors) {
    $("state").textContent = state.visitors ? "There are no visitors at the moment" : "The shop is open and waits for its first visitors";
    $("more").textContent = "";
    return;
  }
  const got = (lost) => percent(1 - lost / best, 0);
  $("state").textContent = `The learned lists get ${got(learned)} of the clicks of the best lists`;
  $("more").textContent =
    `${count(state.visitors)} visitors so far. In the last ten seconds the control order would have got ${got(fixed)}, and sorting by clicks ${got(by_clicks)}.` +
    (state.is_full ? ` This machine is too slow for ${state.visitors_per_second} visitors per second, so fewer come.` : "") +
    (state.trouble ? ` The last error: ${state.trouble}.` : "");
}

function losses(state) {
  const length = state.pace * 1000;
  const time = (seconds) => state.shop_time * 1000 + (seconds - state.seconds) * length;
  const column = (number) => state.curve.map((point) => point[number]);
  return lineChart({
    title: "Clicks missed so far",
    times: column(0).map(time),
    series: [
      { name: "slotwise", values: column(2), paint: "accent" },
      { name: "control order", values: column(3), paint: "quiet" },
      { name: "sorting by clicks", values: column(4), paint: "quiet", dashed: true },
    ],
    marks: state.marks.map((mark) => ({ time: time(mark.seconds), text: mark.said })),
    write: (value) => (value < 10 ? amount(value) : count(Math.round(value))),
    note: "Times are the shop's. Triangles mark your changes.",
  });
}

function pays({ uplift, placement }) {
  const link = el("a", { href: `/placements/${encodeURIComponent(placement)}` }, "The dashboard of this placement");
  const more = [" ", link, " shows the same placement as its owner sees it."];
  if (!uplift) return ["No view is counted yet.", ...more];
  const text = uplift.anytime
    ? `${perThousand(uplift.difference)} ${unit(uplift.measure)} (95\u202f% anytime-valid interval ${interval(uplift.anytime.low, uplift.anytime.high, perThousand)})`
    : `too early, ${uplift.too_early}`;
  return [
    `Without knowing the true values, compare click rates: ${percent(uplift.learned.click_rate)} with learned lists, ${percent(uplift.holdout.click_rate)} in the holdout, which sees the control order. Uplift since the shop opened: ${text}.`,
    ...more,
  ];
}

function controls(state) {
  // a control that has the focus keeps its value
  const set = (id, value) => document.activeElement !== $(id) && ($(id).value = value);
  set("traffic", state.visitors_per_second);
  set("mobile", Math.round(state.mobile_share * 100));
  set("half-life", state.half_life_seconds ?? "");
  showValues();
  offer("popular", state.items.map((item) => [item.id, item.name]), leastLiked(state));
  const slots = state.slots.map(({ slot }) => [String(slot), `slot ${slot}`]);
  offer("first", slots, "1");
  offer("second", slots, String(slots.length));
  $("add").disabled = state.next_item === null;
  $("add").textContent = state.next_item === null ? "All products are in the shop" : `Add a product: ${state.next_item}`;
}

/** The first choice: the least attractive product that the control order does not show, so that most is to be learned. */
function leastLiked({ items, slots }) {
  const liked = (item) => Object.values(item.truth).reduce((sum, value) => sum + value, 0);
  return items.slice(slots.length).reduce((least, item) => (liked(item) < liked(least) ? item : least)).id;
}

function offer(id, options, chosen = null) {
  const select = $(id);
  if (select.options.length === options.length) return;
  const before = select.value || chosen;
  select.replaceChildren(...options.map(([value, text]) => el("option", { value, selected: value === before }, text)));
}

function showValues() {
  $("traffic-said").textContent = $("traffic").value;
  $("mobile-said").textContent = percent($("mobile").value / 100, 0);
}

async function change(what, body) {
  try {
    const answer = await ask(`/demo/${what}`, { method: "POST", body });
    $("result").textContent = `Done: ${answer.body.said}.`;
  } catch (problem) {
    $("result").textContent = problem.message;
  }
  await poll();
}

for (const id of ["traffic", "mobile"]) $(id).addEventListener("input", showValues);
$("traffic").addEventListener("change", () => change("traffic", { visitors_per_second: Number($("traffic").value) }));
$("mobile").addEventListener("change", () => change("mobile", { share: Number($("mobile").value) / 100 }));
$("half-life").addEventListener("change", () => change("half-life", { half_life_seconds: { "": null, auto: "auto" }[$("half-life").value] ?? (Number($("half-life").value) || null) }));
$("make-popular").addEventListener("click", () => change("popular", { item: $("popular").value }));
$("swap").addEventListener("click", () => change("swap", { first: Number($("first").value), second: Number($("second").value) }));
$("add").addEventListener("click", () => change("items"));
$("truth").addEventListener("change", () => now && draw(now));
$("controls").addEventListener("submit", (event) => event.preventDefault());

poll();
setInterval(poll, POLL_MILLISECONDS);
