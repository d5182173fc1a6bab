/* A placement's settings as fields of a form, and what was changed in them as a merge patch. */

import { el } from "./dom.js";
import { field, select } from "./dialog.js";

const MODES = { live: "Live: learn, and try things out", frozen: "Frozen: the best list only", shadow: "Shadow: the order given, watched" };
const DAY = 24;

function number(value, attributes = {}) {
  return el("input", { type: "number", step: "any", inputmode: "decimal", value: value ?? "", ...attributes });
}

/** What stands in a field, or null where nothing does. */
function given(control) {
  return control.value.trim() === "" ? null : Number(control.value);
}

/** {device: ["mobile", "desktop"]} as lines of text, and back. */
function segmentsText(segments) {
  return Object.entries(segments)
    .map(([key, values]) => `${key}: ${values.join(", ")}`)
    .join("\n");
}

function segmentsFrom(text) {
  const found = {};
  for (const line of lines(text)) {
    const [key, ...values] = line.split(":");
    found[key.trim()] = values.join(":").split(",").map((value) => value.trim()).filter(Boolean);
  }
  return found;
}

/** What was typed line by line, without what is empty. */
export function lines(text) {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** Every setting as a part of a form, and `read`, which gives them as the API takes them. */
export function settings(definition) {
  const window = definition.window_seconds;
  const follows = typeof window === "object";
  const memory = definition.memory;
  const kinds = { never: "Never forget", auto: "As fast as foretells clicks best", half: "With a half-life" };
  const chosen = memory === null ? "never" : memory === "auto" ? "auto" : "half";
  const controls = {
    slots: number(definition.slots, { min: 1, step: 1, required: true }),
    holdout: number(definition.holdout * 100, { min: 0, max: 100, required: true }),
    window: number((follows ? window.at_most : window) / 60, { min: 0, required: true }),
    follow: el("input", { type: "checkbox", checked: follows }),
    mode: select(MODES, definition.mode),
    memory: select(kinds, chosen),
    half: number(chosen === "half" ? memory.half_life_hours / DAY : 7, { min: 0 }),
    newcomers: number(definition.new_items_at_most === null ? null : definition.new_items_at_most * 100, { min: 0, max: 100 }),
    sticky: number(definition.sticky_seconds === null ? null : definition.sticky_seconds / 60, { min: 0 }),
    learned: el("input", { type: "checkbox", checked: definition.values === "learned" }),
    bias: el("input", { value: (definition.position_bias ?? []).join(", "), autocomplete: "off" }),
    segments: el("textarea", { rows: 3, spellcheck: "false" }, segmentsText(definition.segments)),
  };
  const halfLife = field("Half-life, days", controls.half, "After so many days a view weighs half as much.");
  const showHalfLife = () => (halfLife.hidden = controls.memory.value !== "half");
  controls.memory.addEventListener("change", showHalfLife);
  showHalfLife();
  const parts = [
    field("Slots", controls.slots, "How many items the place shows at once."),
    field("Holdout, % of views", controls.holdout, "Views that show the items in the order given, to compare with. Without some, nobody can say whether it pays."),
    field("Window, minutes", controls.window, "How long to wait for a click: a view is counted when this time is over."),
    field("Mode", controls.mode, null),
  ];
  const more = [
    field("Wait no longer than needed", controls.follow, "The time above is then the longest, and it is shorter where clicks come sooner."),
    field("Memory", controls.memory, "Whether what was counted long ago weighs less."),
    halfLife,
    field("New items, at most % of the slots", controls.newcomers, "Empty leaves it to the policy."),
    field("A visitor sees the same list for, minutes", controls.sticky, "Empty for a list of its own for each view."),
    field("Learn the value of a click", controls.learned, "From what outcomes say that clicks brought."),
    field("How visible each slot is, if you know", controls.bias, "Numbers with commas between them, such as 1, 0.7, 0.5. Empty to have it learned."),
    field("Segments", controls.segments, "A line for each: device: mobile, desktop"),
  ];
  const read = () => ({
    slots: given(controls.slots),
    holdout: given(controls.holdout) / 100,
    window_seconds: controls.follow.checked
      ? { at_most: given(controls.window) * 60, ...(follows ? { catch: window.catch } : {}) }
      : given(controls.window) * 60,
    mode: controls.mode.value,
    memory: { never: null, auto: "auto", half: { half_life_hours: given(controls.half) * DAY } }[controls.memory.value],
    new_items_at_most: given(controls.newcomers) === null ? null : given(controls.newcomers) / 100,
    sticky_seconds: given(controls.sticky) === null ? null : given(controls.sticky) * 60,
    values: controls.learned.checked ? "learned" : null,
    position_bias: controls.bias.value.trim() === "" ? null : controls.bias.value.split(",").map(Number),
    segments: segmentsFrom(controls.segments.value),
  });
  return { parts: [...parts, el("details", { class: "more" }, el("summary", null, "More settings"), more)], read };
}

/** What a merge patch must say to get from one document to another; a key that is gone is null in it. */
export function difference(before, after) {
  const patch = {};
  for (const [name, value] of Object.entries(after)) {
    if (JSON.stringify(before[name]) === JSON.stringify(value)) continue;
    const objects = [before[name], value].every((one) => one !== null && typeof one === "object" && !Array.isArray(one));
    if (!objects) patch[name] = value;
    else patch[name] = { ...Object.fromEntries(Object.keys(before[name]).map((key) => [key, null])), ...value };
  }
  return patch;
}
