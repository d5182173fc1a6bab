/* Actions on placements: each asks for confirmation, expects the version that it read, and shows its result. */

import { ask, canChange, path } from "./api.js";
import { confirm, field, select } from "./dialog.js";
import { el, name } from "./dom.js";
import { EXPORTS, save } from "./export.js";
import { sentence } from "./format.js";
import { ROOT } from "./root.js";
import { difference, lines, settings } from "./settings.js";

/** Maximum number of items that can be ordered by hand. */
const MAX_TO_ORDER = 500;

const idOf = (item) => (typeof item === "string" ? item : item.id);

/** The current placement, with the version that a change expects. */
async function fetchPlacement(called) {
  const { body, tag } = await ask(path("placements", called));
  return { definition: body, tag };
}

async function change(called, patch, tag) {
  const { body } = await ask(path("placements", called), { method: "PATCH", body: patch, headers: { "If-Match": tag } });
  return body;
}

/** Show the result of an action, also to screen readers. */
function showResult(text) {
  const status = document.getElementById("result");
  if (status) status.textContent = text;
}

/** The element of the result; it keeps its text when the page is drawn again. */
function lastResult() {
  return el("span", { id: "result", role: "status", class: "quiet small" }, document.getElementById("result")?.textContent ?? "");
}

/** A handler that runs an action and shows its result or its error. */
function starting(act) {
  return async () => {
    showResult("");
    try {
      const done = await act();
      if (!done) return;
      showResult(done);
      // the page polls at once
      dispatchEvent(new Event("slotwise-changed"));
    } catch (why) {
      showResult(sentence(why.message));
    }
  };
}

function button(text, act, label = null, kind = null) {
  return el("button", { type: "button", class: kind, "data-key": `do:${label ?? text}`, "aria-label": label, onclick: starting(act) }, text);
}

/** The buttons of a placement. */
export function placementActions({ name: called, mode, exploring }) {
  const live = exploring ? [stopExploring(called), shadow(called)] : [startExploring(called)];
  const modes = mode === "live" ? live : [goLive(called)];
  return el(
    "div",
    { class: "actions", role: "group", "aria-label": "Actions" },
    canChange()
      ? [
          button("Add items", () => add(called)),
          button("Settings", () => changeSettings(called)),
          button("Control order", () => reorder(called)),
          modes,
        ]
      : null,
    button("Export", () => exportFiles(called)),
    canChange() ? null : el("span", { class: "quiet small", id: "read-only" }, "Your API key can read, and change nothing."),
    lastResult(),
  );
}

/** The buttons of an item. */
export function itemActions(called, item) {
  if (!canChange()) return null;
  return el(
    "span",
    { class: "actions" },
    button("Edit", () => edit(called, item), `Edit ${item}`),
    button("Retire", () => retire(called, item), `Retire ${item}`),
  );
}

/** The buttons of the list of placements. */
export function listActions() {
  return el(
    "div",
    { class: "actions", role: "group", "aria-label": "Actions" },
    canChange() ? button("New placement", create) : null,
    lastResult(),
  );
}

async function create() {
  const called = el("input", { required: true, maxlength: 200, autocomplete: "off" });
  const slots = el("input", { type: "number", min: 1, step: 1, value: 3, required: true });
  const items = el("textarea", { rows: 6, required: true, spellcheck: "false" });
  const holdout = el("input", { type: "number", min: 0, max: 100, step: "any", value: 10, required: true });
  const minutes = el("input", { type: "number", min: 0, step: "any", value: 30, required: true });
  const done = await confirm({
    title: "New placement",
    words: ["A named place on a page, with slots to fill and items to fill them with."],
    fields: [
      field("Name", called, "Your page requests decisions by this name."),
      field("Slots", slots, "Number of items shown at once."),
      field("Items, one a line", items, "In the control order: as you would show them without slotwise."),
      field("Holdout, % of views", holdout, "Share of views that show the control order, to measure the uplift."),
      field("Window, minutes", minutes, "Time to wait for a click. A view is counted when it ends."),
    ],
    verb: "Create",
    // the name is one segment of a path
    check: () => (called.value.includes("/") ? "A name must not contain a slash." : null),
    act: () =>
      ask(path("placements", called.value.trim()), {
        method: "PUT",
        headers: { "If-None-Match": "*" },
        body: {
          slots: Number(slots.value),
          items: lines(items.value),
          holdout: Number(holdout.value) / 100,
          window_seconds: Number(minutes.value) * 60,
        },
      }),
  });
  if (done) location.assign(`${ROOT}/placements/${encodeURIComponent(done.body.name)}`);
  return null;
}

async function add(called) {
  const { definition, tag } = await fetchPlacement(called);
  const items = el("textarea", { rows: 6, required: true, spellcheck: "false" });
  const fresh = () => {
    const there = new Set(definition.items.map(idOf));
    return [...new Set(lines(items.value))].filter((item) => !there.has(item));
  };
  const done = await confirm({
    title: "Add items",
    words: ["New items start at the average and get limited exposure until there is data."],
    fields: [field("Items, one a line", items, "Existing items stay unchanged.")],
    verb: "Add",
    check: () => (fresh().length ? null : "All of these items exist already."),
    act: () => change(called, { items: [...definition.items, ...fresh()] }, tag),
  });
  return done && `Added. There are now ${done.items.length} items.`;
}

async function changeSettings(called) {
  const { definition, tag } = await fetchPlacement(called);
  const { parts, read } = settings(definition);
  const deleting = el(
    "button",
    {
      type: "button",
      class: "grave",
      onclick: () => {
        deleting.closest("dialog").close();
        starting(() => remove(called))();
      },
    },
    "Delete this placement …",
  );
  const danger = el("div", { class: "danger", role: "group", "aria-label": "Danger zone" }, el("b", null, "Danger zone"), el("p", null, "Deleting a placement deletes its decisions and counts too."), deleting);
  const done = await confirm({
    title: "Settings",
    words: ["Changes apply from the next view on. Counts are kept."],
    fields: parts,
    after: danger,
    verb: "Save",
    check: () => (Object.keys(difference(definition, read())).length ? null : "There is no change to save."),
    act: () => change(called, difference(definition, read()), tag),
  });
  return done && "Saved.";
}

async function reorder(called) {
  const { definition, tag } = await fetchPlacement(called);
  if (definition.items.length > MAX_TO_ORDER) return `There are more than ${MAX_TO_ORDER} items: set their order with PUT or PATCH.`;
  const order = el("textarea", { rows: 10, required: true, spellcheck: "false" }, definition.items.map(idOf).join("\n"));
  const byId = new Map(definition.items.map((item) => [idOf(item), item]));
  const done = await confirm({
    title: "Control order",
    words: ["The holdout and shadow mode show the items in this order. Learning does not depend on it."],
    fields: [field("Items, one a line", order, "Other buttons add and retire items.")],
    verb: "Save",
    check: () => {
      const ids = lines(order.value);
      const strange = ids.find((id) => !byId.has(id));
      if (strange !== undefined) return `There is no item “${strange}”.`;
      if (new Set(ids).size < ids.length) return "An item is listed twice.";
      return ids.length < byId.size ? "An item is missing." : null;
    },
    act: () => change(called, { items: lines(order.value).map((id) => byId.get(id)) }, tag),
  });
  return done && "Saved.";
}

function switching(called, text, patch, result, words) {
  return button(text, async () => {
    const { tag } = await fetchPlacement(called);
    const done = await confirm({ title: text, words: [words], verb: text, act: () => change(called, patch, tag) });
    return done && result;
  });
}

const stopExploring = (called) =>
  switching(called, "Stop exploring", { exploring: false }, "Exploring is off.", "Everybody sees the best list by the current estimates, and no other lists are tried. Clicks are still learned.");
const startExploring = (called) =>
  switching(called, "Start exploring", { exploring: true }, "Exploring is on.", "Visitors see learned lists. Some of them are tried to learn more.");
const shadow = (called) =>
  switching(called, "Shadow mode", { mode: "shadow" }, "Shadow mode is on.", "Everybody sees the control order, as without slotwise. slotwise computes in the background which list it would show.");
const goLive = (called) => switching(called, "Go live", { mode: "live" }, "Learned lists are shown.", "Visitors see learned lists.");

async function exportFiles(called) {
  const which = select(Object.fromEntries(Object.entries(EXPORTS).map(([key, { label }]) => [key, label])), "items");
  const done = await confirm({
    title: "Export",
    words: ["The decision log is too large for this page: export it on the server with `slotwise decisions`."],
    fields: [field("Data", which)],
    verb: "Download",
    act: async () => {
      await save(called, which.value);
      return true;
    },
  });
  return done && "Downloaded.";
}

async function remove(called) {
  const { tag } = await fetchPlacement(called);
  const typed = el("input", { required: true, autocomplete: "off" });
  const done = await confirm({
    title: "Delete",
    words: ["This deletes the placement, its decisions and its counts permanently. Pages that request it get an error (404)."],
    fields: [field("Type the placement's name to confirm", typed, el("span", null, "The name is ", name(called), "."))],
    verb: "Delete permanently",
    grave: true,
    check: () => (typed.value === called ? null : "This is not the placement's name."),
    act: () => ask(`${path("placements", called)}?confirm=${encodeURIComponent(called)}`, { method: "DELETE", headers: { "If-Match": tag } }),
  });
  if (done) location.assign(`${ROOT}/`);
  return null;
}

async function edit(called, item) {
  const { definition, tag } = await fetchPlacement(called);
  const current = definition.items.find((other) => idOf(other) === item);
  if (current === undefined) return "This item was retired in the meantime.";
  const value = el("input", { type: "number", min: 0, step: "any", value: current.value ?? "", inputmode: "decimal" });
  const slots = Array.from({ length: definition.slots }, (_, at) => [at + 1, `Slot ${at + 1}`]);
  const slot = select(
    { "": "Not pinned", ...Object.fromEntries(slots) },
    String(definition.pin[item] ?? ""),
  );
  const texts = Object.fromEntries(["name", "url", "image"].map((key) => [key, el("input", { type: key === "name" ? "text" : "url", value: current[key] ?? "", autocomplete: "off" })]));
  const settings = () => {
    const { id = item, features = {} } = typeof current === "string" ? {} : current;
    const given = Object.entries(texts).map(([key, control]) => [key, control.value.trim()]);
    if (value.value.trim() !== "") given.push(["value", Number(value.value)]);
    return { id, features, ...Object.fromEntries(given.filter(([, text]) => text !== "")) };
  };
  const done = await confirm({
    title: "Edit",
    words: [name(item)],
    fields: [
      field("Name", texts.name, "Shown on this dashboard instead of the id."),
      field("Link", texts.url, "Address of the item's own page: http:// or https://"),
      field("Picture", texts.image, "Address of a picture: http:// or https://"),
      field("Value of a click", value, "Relative to clicks on other items; lists then maximise value. If empty, it is 1 or learned."),
      field("Pinned to", slot, "Everybody sees the item there, regardless of the estimates."),
    ],
    verb: "Save",
    act: () =>
      change(
        called,
        {
          items: definition.items.map((other) => (idOf(other) === item ? settings() : other)),
          pin: { [item]: slot.value === "" ? null : Number(slot.value) },
        },
        tag,
      ),
  });
  return done && "Saved.";
}

async function retire(called, item) {
  const { tag } = await fetchPlacement(called);
  const done = await confirm({
    title: "Retire",
    words: [el("span", null, name(item), " is no longer shown. Its counts are kept, and used again if it comes back.")],
    verb: "Retire",
    act: () => ask(path("placements", called, "items", item), { method: "DELETE", headers: { "If-Match": tag } }),
  });
  return done && "Retired.";
}
