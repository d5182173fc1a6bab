/* The demo's page: asks the shop once a second how it is, draws that, and sends what the viewer changes. */

import { Refused, Unreachable, ask } from "/static/api.js";
import { lineChart } from "/static/charts.js";
import { el, swap } from "/static/dom.js";
import { amount, count, difference, interval, percent } from "/static/format.js";
import { learned } from "/demo/static/learned.js";
import { Shelf } from "/demo/static/shelf.js";

const EVERY = 1000;
const $ = (id) => document.getElementById(id);
const shelves = Object.fromEntries([...document.querySelectorAll(".shelf")].map((list) => [list.dataset.device, new Shelf(list)]));

let now = null;
let asking = false;

async function look() {
  if (asking) return;
  asking = true;
  try {
    now = (await ask("/demo/state")).body;
    tell("live", "live");
    draw(now);
  } catch (problem) {
    if (!(problem instanceof Unreachable || problem instanceof Refused)) throw problem;
    tell("lost", "closed", "The shop is closed, and the numbers are its last ones. slotwise demo opens another.");
  } finally {
    asking = false;
  }
}

function tell(state, word, banner = "") {
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
  // whoever is reading it is not to be disturbed
  if (!chart.matches(":hover, :focus-within") && !chart.querySelector("details[open]")) swap(chart, losses(state));
  swap($("learned"), learned(state, truth));
  $("pays").replaceChildren(...pays(state));
}

function sentence(state) {
  const { best, learned, fixed, at_random, visitors } = state.latest;
  if (!visitors) {
    $("state").textContent = state.visitors ? "Nobody is in the shop at the moment" : "The shop is open, and waits for its first visitors";
    $("more").textContent = "";
    return;
  }
  const got = (lost) => percent(1 - lost / best, 0);
  $("state").textContent = `The lists get ${got(learned)} of the clicks that the best ones would`;
  $("more").textContent =
    `${count(state.visitors)} visitors so far. In the last ten seconds a list that never changes would have got ${got(fixed)}, and lists at random ${got(at_random)}.` +
    (state.is_full ? ` This machine is too busy for ${state.visitors_per_second} visitors per second, so fewer come.` : "") +
    (state.trouble ? ` The last trouble with a visit: ${state.trouble}.` : "");
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
      { name: "a list that never changes", values: column(3), paint: "quiet" },
      { name: "lists at random", values: column(4), paint: "quiet", dashed: true },
    ],
    marks: state.marks.map((mark) => ({ time: time(mark.seconds), text: mark.said })),
    write: (value) => (value < 10 ? amount(value) : count(Math.round(value))),
    note: "The time is that of the shop. Small triangles mark what you changed.",
  });
}

function pays({ uplift, placement }) {
  const link = el("a", { href: `/placements/${encodeURIComponent(placement)}` }, "The dashboard of this placement");
  const more = [" ", link, " shows all that its owner would see."];
  if (!uplift) return ["Nothing has been counted yet.", ...more];
  const points = (end) => difference(end, uplift.measure);
  const said = uplift.anytime
    ? `${points(uplift.difference)} (${interval(uplift.anytime.low, uplift.anytime.high, points)}, however often you look)`
    : `too early to say, ${uplift.too_early}`;
  return [
    `Whoever does not know what is true can still tell, from what was clicked. Of the visitors who saw what was learned, ${percent(uplift.learned.click_rate)} clicked; of the holdout, who see the list that never changes, ${percent(uplift.holdout.click_rate)}. The difference since the shop opened: ${said}.`,
    ...more,
  ];
}

function controls(state) {
  // what the viewer is about to change stays as it is
  const set = (id, value) => document.activeElement !== $(id) && ($(id).value = value);
  set("traffic", state.visitors_per_second);
  set("mobile", Math.round(state.mobile_share * 100));
  set("memory", state.half_life_seconds ?? "");
  says();
  offer("popular", state.items.map((item) => [item.id, item.name]));
  const slots = state.slots.map(({ slot }) => [String(slot), `slot ${slot}`]);
  offer("first", slots, "1");
  offer("second", slots, String(slots.length));
  $("add").disabled = state.next_item === null;
  $("add").textContent = state.next_item === null ? "All products are in the shop" : `Add a product: ${state.next_item}`;
}

function offer(id, options, chosen = null) {
  const select = $(id);
  if (select.options.length === options.length) return;
  const before = select.value || chosen;
  select.replaceChildren(...options.map(([value, text]) => el("option", { value, selected: value === before }, text)));
}

function says() {
  $("traffic-said").textContent = $("traffic").value;
  $("mobile-said").textContent = percent($("mobile").value / 100, 0);
}

async function change(what, body) {
  try {
    const answer = await ask(`/demo/${what}`, { method: "POST", body });
    $("said").textContent = `Done: ${answer.body.said}.`;
  } catch (problem) {
    $("said").textContent = problem.message;
  }
  await look();
}

for (const id of ["traffic", "mobile"]) $(id).addEventListener("input", says);
$("traffic").addEventListener("change", () => change("traffic", { visitors_per_second: Number($("traffic").value) }));
$("mobile").addEventListener("change", () => change("mobile", { share: Number($("mobile").value) / 100 }));
$("memory").addEventListener("change", () => change("memory", { half_life_seconds: $("memory").value ? Number($("memory").value) : null }));
$("make-popular").addEventListener("click", () => change("popular", { item: $("popular").value }));
$("swap").addEventListener("click", () => change("swap", { first: Number($("first").value), second: Number($("second").value) }));
$("add").addEventListener("click", () => change("items"));
$("truth").addEventListener("change", () => now && draw(now));
$("controls").addEventListener("submit", (event) => event.preventDefault());

look();
setInterval(look, EVERY);
