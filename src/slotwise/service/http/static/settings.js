/* A placement's settings as form fields, and their changes as a merge patch. */

import { el } from "./dom.js";
import { field, select } from "./dialog.js";

const MODES = { live: "Live: show learned lists", shadow: "Shadow: show the control order, learn in the background" };
const DAY = 24;

function number(value, attributes = {}) {
  return el("input", { type: "number", step: "any", inputmode: "decimal", value: value ?? "", ...attributes });
}

/** The number in a field, or null if it is empty. */
function given(control) {
  return control.value.trim() === "" ? null : Number(control.value);
}

/** {device: ["mobile", "desktop"]} as lines of text. */
function segmentsText(segments) {
  return Object.entries(segments)
    .map(([key, values]) => `${key}: ${values.join(", ")}`)
    .join("\n");
}

function segmentsFrom(text) {
  const segments = {};
  for (const line of lines(text)) {
    const [key, ...values] = line.split(":");
    segments[key.trim()] = values.join(":").split(",").map((value) => value.trim()).filter(Boolean);
  }
  return segments;
}

/** {purchase: 20, review: "value"} as lines of text, and back; null if there are none. */
function rewardText(reward) {
  return Object.entries(reward ?? {})
    .map(([event, worth]) => `${event}: ${worth}`)
    .join("\n");
}

function rewardFrom(text) {
  const found = lines(text).map((line) => {
    const at = line.lastIndexOf(":");
    const worth = line.slice(at + 1).trim();
    return [line.slice(0, Math.max(0, at)).trim(), worth !== "" && !Number.isNaN(Number(worth)) ? Number(worth) : worth];
  });
  return found.length ? Object.fromEntries(found) : null;
}

/** The lines of a text that are not empty. */
export function lines(text) {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** Every setting as a form field, and `read`, which returns them as the API expects them. */
export function settings(definition) {
  const window = definition.window_seconds;
  const follows = typeof window === "object";
  const kinds = { never: "None: counts keep their weight", auto: "Automatic: the one that predicts clicks best", fixed: "Fixed" };
  const chosen = definition.half_life === null ? "never" : definition.half_life === "auto" ? "auto" : "fixed";
  const controls = {
    slots: number(definition.slots, { min: 1, step: 1, required: true }),
    holdout: number(definition.holdout * 100, { min: 0, max: 100, required: true }),
    window: number((follows ? window.at_most : window) / 60, { min: 0, required: true }),
    follow: el("input", { type: "checkbox", checked: follows }),
    // a guardrail sets it, and saving another field must not end it
    mode: select(definition.mode === "held" ? { held: "Held: a guardrail shows everybody the control order", ...MODES } : MODES, definition.mode),
    exploring: el("input", { type: "checkbox", checked: definition.exploring }),
    halfLife: select(kinds, chosen),
    days: number(chosen === "fixed" ? definition.half_life / DAY : 7, { min: 0 }),
    newcomers: number(definition.new_items_at_most === null ? null : definition.new_items_at_most * 100, { min: 0, max: 100 }),
    sticky: number(definition.sticky_seconds === null ? null : definition.sticky_seconds / 60, { min: 0 }),
    learned: el("input", { type: "checkbox", checked: definition.values === "learned" }),
    reward: el("textarea", { rows: 2, spellcheck: "false" }, rewardText(definition.reward)),
    rewardDays: number(definition.reward_days, { min: 0 }),
    bias: el("input", { value: (definition.position_bias ?? []).join(", "), autocomplete: "off" }),
    segments: el("textarea", { rows: 3, spellcheck: "false" }, segmentsText(definition.segments)),
  };
  const halfLife = field("Half-life, days", controls.days, "After this many days a view has half its weight.");
  const showHalfLife = () => (halfLife.hidden = controls.halfLife.value !== "fixed");
  controls.halfLife.addEventListener("change", showHalfLife);
  showHalfLife();
  const parts = [
    field("Slots", controls.slots, "Number of items shown at once."),
    field("Holdout, % of views", controls.holdout, "Share of views that show the control order. Without a holdout there is no uplift."),
    field("Window, minutes", controls.window, "Time to wait for a click. A view is counted when it ends."),
    field("Mode", controls.mode, null),
    field("Exploring", controls.exploring, "Try other lists to learn more. Otherwise everybody sees the best list."),
  ];
  const more = [
    field("Adaptive window", controls.follow, "The time above is then the maximum; the window is shorter if clicks arrive sooner."),
    field("Half-life", controls.halfLife, "How fast old counts lose weight."),
    halfLife,
    field("Cold-start cap, % of slots", controls.newcomers, "Maximum share of slots for items without a counted outcome. If empty, the policy decides."),
    field("Sticky lists, minutes", controls.sticky, "A visitor sees the same list for this long. If empty, each view gets a new list."),
    field("Learn the value of a click", controls.learned, "From the values that outcomes report."),
    field("Reward", controls.reward, "Events and what each is worth, one per line: purchase: 20, or purchase: value for the reported value. If empty, clicks count."),
    field("Reward window, days", controls.rewardDays, "Time in which events of a decision are accepted."),
    field("Position bias, if known", controls.bias, "One number per slot, such as 1, 0.7, 0.5. If empty, it is learned."),
    field("Segments", controls.segments, "One per line: device: mobile, desktop"),
  ];
  const read = () => ({
    slots: given(controls.slots),
    holdout: given(controls.holdout) / 100,
    window_seconds: controls.follow.checked
      ? { at_most: given(controls.window) * 60, ...(follows ? { catch: window.catch } : {}) }
      : given(controls.window) * 60,
    mode: controls.mode.value,
    exploring: controls.exploring.checked,
    half_life: { never: null, auto: "auto", fixed: given(controls.days) * DAY }[controls.halfLife.value],
    new_items_at_most: given(controls.newcomers) === null ? null : given(controls.newcomers) / 100,
    sticky_seconds: given(controls.sticky) === null ? null : given(controls.sticky) * 60,
    values: controls.learned.checked ? "learned" : null,
    reward: rewardFrom(controls.reward.value),
    reward_days: given(controls.rewardDays) ?? 0,
    position_bias: controls.bias.value.trim() === "" ? null : controls.bias.value.split(",").map(Number),
    segments: segmentsFrom(controls.segments.value),
  });
  return { parts: [...parts, el("details", { class: "more" }, el("summary", null, "More settings"), more)], read };
}

/** The merge patch that turns one document into another; a removed key is null in it. */
export function difference(before, after) {
  const patch = {};
  for (const [name, value] of Object.entries(after)) {
    if (JSON.stringify(before[name]) === JSON.stringify(value)) continue;
    const objects = [before[name], value].every((side) => side !== null && typeof side === "object" && !Array.isArray(side));
    if (!objects) patch[name] = value;
    else patch[name] = { ...Object.fromEntries(Object.keys(before[name]).map((key) => [key, null])), ...value };
  }
  return patch;
}
