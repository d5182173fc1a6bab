/* What an owner can do: each thing asks first, is sent with the version that was looked at, and says what came of it. */

import { ask, path } from "./api.js";
import { confirm, field, select } from "./dialog.js";
import { el, name } from "./dom.js";
import { EXPORTS, save } from "./export.js";
import { sentence } from "./format.js";
import { ROOT } from "./root.js";
import { difference, lines, settings } from "./settings.js";

/** So many items are put into order by hand, and not more. */
const MAX_IN_ORDER = 500;

const idOf = (item) => (typeof item === "string" ? item : item.id);

/** A placement as it is now, with the version that a change of it expects. */
async function look(called) {
  const { body, tag } = await ask(path("placements", called));
  return { definition: body, tag };
}

async function change(called, patch, tag) {
  const { body } = await ask(path("placements", called), { method: "PATCH", body: patch, headers: { "If-Match": tag } });
  return body;
}

/** Said after something was done, where a screen reader hears it too. */
function said(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

/** The place for it, with what is said there now: the page is drawn anew around it. */
function lastSaid() {
  return el("span", { id: "said", role: "status", class: "quiet small" }, document.getElementById("said")?.textContent ?? "");
}

/** Run an action that begins with a look at the placement; what goes wrong before the dialog is said as well. */
function starting(act) {
  return async () => {
    said("");
    try {
      const done = await act();
      if (!done) return;
      said(done);
      // so that the page does not wait until it would have asked anyway
      dispatchEvent(new Event("slotwise-changed"));
    } catch (why) {
      said(sentence(why.message));
    }
  };
}

function button(text, act, label = null) {
  return el("button", { type: "button", "data-key": `do:${label ?? text}`, "aria-label": label, onclick: starting(act) }, text);
}

/** Above one placement: what can be done with all of it. */
export function placementActions(called, mode) {
  const modes = {
    live: [pause(called), shadow(called)],
    frozen: [goLive(called, "Resume")],
    shadow: [goLive(called, "Go live")],
  }[mode];
  return el(
    "div",
    { class: "actions", role: "group", "aria-label": "Actions" },
    button("Add items", () => add(called)),
    button("Settings", () => changeSettings(called)),
    button("Order", () => reorder(called)),
    modes,
    button("Export", () => exportFiles(called)),
    button("Delete", () => remove(called)),
    lastSaid(),
  );
}

/** In the row of one item. */
export function itemActions(called, item) {
  return el(
    "span",
    { class: "actions" },
    button("Edit", () => edit(called, item), `Edit ${item}`),
    button("Retire", () => retire(called, item), `Retire ${item}`),
  );
}

/** Above the list of placements. */
export function listActions() {
  return el(
    "div",
    { class: "actions", role: "group", "aria-label": "Actions" },
    button("New placement", make),
    lastSaid(),
  );
}

async function make() {
  const called = el("input", { required: true, maxlength: 200, autocomplete: "off" });
  const slots = el("input", { type: "number", min: 1, step: 1, value: 3, required: true });
  const items = el("textarea", { rows: 6, required: true, spellcheck: "false" });
  const holdout = el("input", { type: "number", min: 0, max: 100, step: "any", value: 10, required: true });
  const minutes = el("input", { type: "number", min: 0, step: "any", value: 30, required: true });
  const done = await confirm({
    title: "New placement",
    words: ["A named place on a page, with slots to fill and items to fill them with."],
    fields: [
      field("Name", called, "As your page will ask for it."),
      field("Slots", slots, "How many items it shows at once."),
      field("Items, one a line", items, "In the order in which you would show them without slotwise."),
      field("Holdout, % of views", holdout, "They see that order, so that you can tell whether learning pays."),
      field("Window, minutes", minutes, "How long to wait for a click: a view is counted when this time is over."),
    ],
    verb: "Make it",
    // it stands between two slashes in an address
    check: () => (called.value.includes("/") ? "A name has no slash in it." : null),
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
  const { definition, tag } = await look(called);
  const items = el("textarea", { rows: 6, required: true, spellcheck: "false" });
  const fresh = () => {
    const there = new Set(definition.items.map(idOf));
    return [...new Set(lines(items.value))].filter((item) => !there.has(item));
  };
  const done = await confirm({
    title: "Add items",
    words: ["They begin where the others are on average, and are shown with care until something is known of them."],
    fields: [field("Items, one a line", items, "What is there already stays as it is.")],
    verb: "Add",
    check: () => (fresh().length ? null : "All of these are there already."),
    act: () => change(called, { items: [...definition.items, ...fresh()] }, tag),
  });
  return done && `Added; there are ${done.items.length} items now.`;
}

async function changeSettings(called) {
  const { definition, tag } = await look(called);
  const { parts, read } = settings(definition);
  const done = await confirm({
    title: "Settings",
    words: ["What you change holds from the next view on. What was counted stays."],
    fields: parts,
    verb: "Save",
    check: () => (Object.keys(difference(definition, read())).length ? null : "Nothing was changed."),
    act: () => change(called, difference(definition, read()), tag),
  });
  return done && "Saved.";
}

async function reorder(called) {
  const { definition, tag } = await look(called);
  if (definition.items.length > MAX_IN_ORDER) return `With more than ${MAX_IN_ORDER} items, send the order with PUT or PATCH.`;
  const order = el("textarea", { rows: 10, required: true, spellcheck: "false" }, definition.items.map(idOf).join("\n"));
  const byId = new Map(definition.items.map((item) => [idOf(item), item]));
  const done = await confirm({
    title: "The order given",
    words: ["What the holdout and the shadow show: the items as you would list them. What is learned does not depend on it."],
    fields: [field("Items, one a line", order, "To add or retire items there are buttons of their own.")],
    verb: "Save",
    check: () => {
      const ids = lines(order.value);
      const strange = ids.find((id) => !byId.has(id));
      if (strange !== undefined) return `There is no item “${strange}”.`;
      if (new Set(ids).size < ids.length) return "An item stands there twice.";
      return ids.length < byId.size ? "An item is missing." : null;
    },
    act: () => change(called, { items: lines(order.value).map((id) => byId.get(id)) }, tag),
  });
  return done && "Saved.";
}

function switching(called, text, mode, words) {
  return button(text, async () => {
    const { tag } = await look(called);
    const done = await confirm({ title: text, words, verb: text, act: () => change(called, { mode }, tag) });
    return done && `The mode is ${done.mode} now.`;
  });
}

const pause = (called) =>
  switching(called, "Pause", "frozen", ["Everybody sees the best list of what is known, and nothing else is tried. What is clicked is still learned."]);
const shadow = (called) =>
  switching(called, "Shadow", "shadow", ["Everybody sees the items in the order given, as without slotwise. What would be shown instead is worked out beside it."]);
const goLive = (called, text) => switching(called, text, "live", ["Lists are learned again, and some are shown to find out more."]);

async function exportFiles(called) {
  const which = select(Object.fromEntries(Object.entries(EXPORTS).map(([key, one]) => [key, one.label])), "items");
  const done = await confirm({
    title: "Export",
    words: ["The log of all decisions is large; whoever runs the service gets it with `slotwise decisions`."],
    fields: [field("What", which)],
    verb: "Save as a file",
    act: async () => {
      await save(called, which.value);
      return true;
    },
  });
  return done && "Saved as a file.";
}

async function remove(called) {
  const { tag } = await look(called);
  const typed = el("input", { required: true, autocomplete: "off" });
  const done = await confirm({
    title: "Delete",
    words: ["The placement, its decisions and everything that was learned go for good. Pages that ask for it are told that it is not there."],
    fields: [field("The placement's name, to confirm", typed, el("span", null, "It is called ", name(called), "."))],
    verb: "Delete for good",
    grave: true,
    check: () => (typed.value === called ? null : "That is not its name."),
    act: () => ask(`${path("placements", called)}?confirm=${encodeURIComponent(called)}`, { method: "DELETE", headers: { "If-Match": tag } }),
  });
  if (done) location.assign(`${ROOT}/`);
  return null;
}

async function edit(called, item) {
  const { definition, tag } = await look(called);
  const found = definition.items.find((one) => idOf(one) === item);
  if (found === undefined) return "That item was retired meanwhile.";
  const value = el("input", { type: "number", min: 0, step: "any", value: found.value ?? "", inputmode: "decimal" });
  const slots = Array.from({ length: definition.slots }, (_, at) => [at + 1, `Slot ${at + 1}`]);
  const slot = select(
    { "": "Nowhere: leave it to what is learned", ...Object.fromEntries(slots) },
    String(definition.pin[item] ?? ""),
  );
  const settings = () => {
    const { id = item, features = {}, ...rest } = typeof found === "string" ? {} : found;
    delete rest.value;
    return { id, ...rest, features, ...(value.value.trim() === "" ? {} : { value: Number(value.value) }) };
  };
  const done = await confirm({
    title: "Edit",
    words: [name(item)],
    fields: [
      field("What a click is worth", value, "Beside clicks on the others; lists are then made for value. Empty is 1, or what is learned."),
      field("Pinned in", slot, "It then stands there for everybody, whatever is learned."),
    ],
    verb: "Save",
    act: () =>
      change(
        called,
        {
          items: definition.items.map((one) => (idOf(one) === item ? settings() : one)),
          pin: { [item]: slot.value === "" ? null : Number(slot.value) },
        },
        tag,
      ),
  });
  return done && "Saved.";
}

async function retire(called, item) {
  const { tag } = await look(called);
  const done = await confirm({
    title: "Retire",
    words: [el("span", null, name(item), " is shown no more. What was learned of it is kept, and used again if it comes back.")],
    verb: "Retire",
    act: () => ask(path("placements", called, "items", item), { method: "DELETE", headers: { "If-Match": tag } }),
  });
  return done && "Retired.";
}
