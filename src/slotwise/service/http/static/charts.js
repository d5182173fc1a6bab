/* SVG charts over time: lines with bands, and stacked shares, with marks for changes.
 *
 *   lineChart({title, times, series: [{name, values, low, high, paint}], marks: [{time, text}], write})
 *   shareChart({title, times, series: [{name, values, paint}], marks, write})
 *
 * Both return a <figure>. `unfinished`: the last period is not over. `highest`: a fixed top of the scale; `most`: its
 * maximum. `times` are milliseconds; a value is a number, or null, which leaves a gap in the line. `paint` is one of
 * accent, quiet, 1 to 5 and rest, the colours of dashboard.css. A chart adapts to its width, is read with a pointer, a
 * finger or the arrow keys, and has a table of its numbers.
 */

import { el, name, svg } from "./dom.js";
import { day, hour, moment, utcDay } from "./format.js";

const HEIGHT = 200;
const LEFT = 52;
const RIGHT = 8;
const TOP = 12;
const BOTTOM = 24;
const HOUR = 3_600_000;

/** Titles of charts whose table is open: it stays open when the chart is drawn again. */
const opened = new Set();

/** Lines, each with a band where `low` and `high` are given. */
export function lineChart(options) {
  return new Chart({ ...options, stacked: false }).figure;
}

/** Stacked areas: the values of a time are shares of their sum. */
export function shareChart(options) {
  const totals = options.times.map((_, at) => options.series.reduce((sum, of) => sum + (of.values[at] ?? 0), 0));
  const shares = options.series.map((of) => ({
    ...of,
    values: of.values.map((value, at) => (totals[at] ? (value ?? 0) / totals[at] : null)),
  }));
  return new Chart({ ...options, series: shares, stacked: true, highest: 1 }).figure;
}

class Chart {
  constructor({ title, times, series, marks = [], write, stacked, unfinished = false, highest = null, most = Infinity, height = HEIGHT, note = null, daily = false }) {
    Object.assign(this, { title, times, series, marks, write, stacked, height, unfinished });
    this.daily = daily;
    this.when = daily ? utcDay : moment;
    this.at = null;
    this.highest = highest ?? Math.min(most, ceiling(series));
    this.readout = el("output", { class: "readout" });
    this.plot = svg("svg", {
      class: "plot",
      height,
      tabindex: "0",
      role: "img",
      "aria-label": `${title}. ${this.summary()} Use the left and right arrow keys to read it.`,
      "data-key": `chart:${title}`,
      onpointermove: (event) => this.point(event),
      onpointerdown: (event) => this.point(event),
      onpointerleave: () => this.read(null),
      onblur: () => this.read(null),
      onkeydown: (event) => this.step(event),
    });
    this.figure = el(
      "figure",
      { class: "chart" },
      el("figcaption", null, el("b", null, title), series.length > 1 ? this.legend() : null),
      this.plot,
      this.readout,
      note ? el("p", { class: "quiet small" }, note) : null,
      this.numbers(),
    );
    let width = 0;
    new ResizeObserver(([entry]) => {
      const now = Math.floor(entry.contentRect.width);
      if (now > 0 && now !== width) this.draw((width = now));
    }).observe(this.figure);
  }

  legend() {
    const shape = (of) =>
      this.stacked
        ? svg("rect", { x: 2, width: 12, height: 12, rx: 2, class: `paint-${of.paint}` })
        : svg("line", { x1: 0, x2: 16, y1: 6, y2: 6, class: `paint-${of.paint}${of.dashed ? " dashed" : ""}` });
    const sign = (of) => svg("svg", { viewBox: "0 0 16 12", "aria-hidden": "true" }, shape(of));
    return el("ul", { class: "key" }, this.series.map((of) => el("li", null, sign(of), name(of.name))));
  }

  summary() {
    if (!this.times.length) return "There is no data yet.";
    const last = this.times.length - 1;
    const ends = this.series.filter((of) => of.values[last] !== null).map((of) => `${of.name} ${this.write(of.values[last])}`);
    return `From ${this.when(this.times[0])} to ${this.when(this.times[last])}. Latest: ${ends.join(", ") || "no data"}.`;
  }

  /** The numbers as a table, created when it is opened. */
  numbers() {
    const open = opened.has(this.title);
    const body = el("div", { class: "wide", "data-key": `rows:${this.title}`, tabindex: "0", role: "region", "aria-label": `${this.title}: numbers` }, open ? this.table() : null);
    const details = el("details", { class: "why", open, "data-key": `numbers:${this.title}` }, el("summary", { "data-key": `open:${this.title}` }, "Numbers"), body);
    details.addEventListener("toggle", () => {
      if (!details.open) return opened.delete(this.title);
      opened.add(this.title);
      if (!body.firstChild) body.append(this.table());
    });
    return details;
  }

  table() {
    const head = el("tr", null, el("th", { scope: "col" }, "from"), this.series.map((of) => el("th", { scope: "col", class: "n" }, name(of.name))));
    const rows = this.times.map((time, at) =>
      el("tr", null, el("th", { scope: "row" }, this.when(time)), this.series.map((of) => el("td", { class: "n" }, this.text(of, at)))),
    );
    return el("table", null, el("thead", null, head), el("tbody", null, rows.reverse()));
  }

  text(of, at) {
    const value = of.values[at];
    if (value === null || value === undefined) return "–";
    const band = of.low && of.low[at] !== null ? ` (${this.write(of.low[at])} to ${this.write(of.high[at])})` : "";
    return this.write(value) + band;
  }

  draw(width) {
    this.width = width;
    const [first, last] = [this.times[0] ?? 0, this.times.at(-1) ?? 1];
    const inner = width - LEFT - RIGHT;
    this.x = (time) => LEFT + (last === first ? inner / 2 : ((time - first) / (last - first)) * inner);
    this.y = (value) => this.height - BOTTOM - (value / this.highest) * (this.height - TOP - BOTTOM);
    this.cross = svg("line", { class: "cross", y1: TOP, y2: this.height - BOTTOM, visibility: "hidden" });
    this.plot.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.plot.replaceChildren(
      ...this.axes(first, last),
      ...(this.stacked ? this.areas() : this.lines()),
      ...this.signs(),
      this.cross,
    );
  }

  axes(first, last) {
    const rows = [0, 0.5, 1].map((part) => part * this.highest);
    const grid = rows.flatMap((value) => [
      svg("line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: this.y(value), y2: this.y(value) }),
      svg("text", { x: LEFT - 8, y: this.y(value) + 4, "text-anchor": "end" }, this.write(value)),
    ]);
    if (!this.times.length) return grid;
    const write = this.daily ? utcDay : last - first > 3 * 24 * HOUR ? day : hour;
    const room = Math.max(1, Math.floor((this.width - LEFT - RIGHT) / 110));
    // the starts of periods that are closest to even distances
    const even = Array.from({ length: room + 1 }, (_, number) => first + (number / room) * (last - first));
    const shown = [...new Set(even.map((time) => nearest(this.times, time)))];
    const anchor = (time) => (last === first ? "middle" : time === first ? "start" : time === last ? "end" : "middle");
    const labels = shown.map((time) => svg("text", { x: this.x(time), y: this.height - 6, "text-anchor": anchor(time) }, write(time)));
    return [...grid, ...labels];
  }

  lines() {
    return this.series.flatMap((of) => {
      const runs = unbroken(of.values, this.times);
      const band = of.low ? runs.map((run) => this.between(run, of.low, of.high, `band paint-${of.paint}`)) : [];
      const line = runs.map((run) =>
        run.length === 1
          ? svg("circle", { class: `paint-${of.paint}`, r: 3, cx: this.x(this.times[run[0]]), cy: this.y(of.values[run[0]]) })
          : this.along(of, run),
      );
      return [...band, ...line.flat(2)];
    });
  }

  /** A line; its last part is faint if it leads to a period that is not over. */
  along(of, run) {
    const path = (part, kind = "") =>
      svg("path", { class: `line paint-${of.paint}${of.dashed ? " dashed" : ""}${kind}`, d: "M" + part.map((at) => this.dot(at, of.values[at])).join("L") });
    if (!this.unfinished || run.at(-1) !== this.times.length - 1) return path(run);
    return [run.length > 2 ? path(run.slice(0, -1)) : [], path(run.slice(-2), " faint")];
  }

  areas() {
    const below = this.times.map(() => 0);
    return this.series.flatMap((of) => {
      const low = [...below];
      of.values.forEach((value, at) => (below[at] += value ?? 0));
      const high = [...below];
      return unbroken(of.values, this.times).map((run) => this.between(run, low, high, `area paint-${of.paint}`));
    });
  }

  between(run, low, high, kind) {
    const most = (value) => Math.min(this.highest, Math.max(0, value));
    // a single period is as wide as a line is thick
    const along = run.length === 1 ? [run[0], run[0]] : run;
    const shift = (index) => (run.length === 1 ? (index ? 3 : -3) : 0);
    const upper = along.map((at, index) => `${round(this.x(this.times[at]) + shift(index))},${round(this.y(most(high[at])))}`);
    const lower = along.map((at, index) => `${round(this.x(this.times[at]) + shift(index))},${round(this.y(most(low[at])))}`);
    return svg("path", { class: kind, d: `M${upper.join("L")}L${lower.reverse().join("L")}Z` });
  }

  dot(at, value) {
    return `${round(this.x(this.times[at]))},${round(this.y(Math.min(this.highest, value)))}`;
  }

  signs() {
    const [first, last] = [this.times[0], this.times.at(-1)];
    return this.marks
      .filter((mark) => mark.time >= first && mark.time <= last)
      .map((mark) =>
        svg(
          "g",
          null,
          svg("title", null, `${moment(mark.time)}: ${mark.text}`),
          svg("line", { class: "mark", x1: this.x(mark.time), x2: this.x(mark.time), y1: TOP - 4, y2: this.height - BOTTOM }),
          svg("path", { class: "mark-sign", d: `M${this.x(mark.time) - 4},${TOP - 10}h8l-4,6z` }),
        ),
      );
  }

  point(event) {
    const box = this.plot.getBoundingClientRect();
    const wanted = event.clientX - box.left;
    let nearest = null;
    this.times.forEach((time, at) => {
      if (nearest === null || Math.abs(this.x(time) - wanted) < Math.abs(this.x(this.times[nearest]) - wanted)) nearest = at;
    });
    this.read(nearest);
  }

  step(event) {
    const last = this.times.length - 1;
    const move = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key];
    if (move === undefined || last < 0) return;
    event.preventDefault();
    this.read(Math.min(last, Math.max(0, (this.at ?? (move < 0 ? last + 1 : -1)) + move)));
  }

  /** Show the values of a time. */
  read(at) {
    this.at = at;
    if (at === null) {
      this.cross.setAttribute("visibility", "hidden");
      this.readout.replaceChildren();
      return;
    }
    const time = this.times[at];
    this.cross.setAttribute("visibility", "visible");
    this.cross.setAttribute("x1", this.x(time));
    this.cross.setAttribute("x2", this.x(time));
    const next = this.times[at + 1] ?? time + HOUR;
    const marks = this.marks.filter((mark) => mark.time >= time && mark.time < next).map((mark) => ` · ${mark.text}`);
    this.readout.replaceChildren(
      `${this.when(time)}${this.unfinished && at === this.times.length - 1 ? ", so far" : ""}: `,
      ...this.series.flatMap((of, number) => [number ? " · " : "", name(of.name), ` ${this.text(of, at)}`]),
      ...marks,
    );
  }
}

/** Runs of indices without a gap: no value and no period is missing. */
function unbroken(values, times) {
  const gaps = times.slice(1).map((time, at) => time - times[at]);
  const usual = gaps.length ? Math.min(...gaps) : 0;
  const runs = [];
  let run = [];
  values.forEach((value, at) => {
    const follows = !run.length || times[at] - times[at - 1] <= usual * 2.5;
    if (value === null || value === undefined || !follows) {
      if (run.length) runs.push(run);
      run = [];
    }
    if (value !== null && value !== undefined) run.push(at);
  });
  if (run.length) runs.push(run);
  return runs;
}

/** A round number above all values and 90 % of the bands, so that one wide interval does not flatten the chart. */
function ceiling(series) {
  const values = series.flatMap((of) => of.values.filter((value) => value !== null));
  const bands = series.flatMap((of) => (of.high ?? []).filter((value) => value !== null)).sort((a, b) => a - b);
  const most = Math.max(0, ...values, bands[Math.floor(bands.length * 0.9)] ?? 0);
  if (most < 1e-9) return 1;
  const scale = 10 ** Math.floor(Math.log10(most));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((step) => step * scale).find((step) => step >= most * 1.02) ?? most;
}

function round(number) {
  return Math.round(number * 10) / 10;
}

function nearest(times, wanted) {
  return times.reduce((best, time) => (Math.abs(time - wanted) < Math.abs(best - wanted) ? time : best));
}
