/* Changes of a placement in words, for marks on charts and for the list of all of them. */

import { many } from "./format.js";

/** "holdout changed, 2 items added": short, as a mark has little room. */
export function inShort({ version, fields, added, retired, changed, reordered }) {
  if (version === 1) return "created";
  const parts = Object.keys(fields).map((field) => `${field.replaceAll("_", " ")} changed`);
  return [...parts, ...ofItems({ added, retired, changed, reordered })].join(", ") || "changed";
}

/** Each thing that a change did, with what was before and after. */
export function inFull(change) {
  const created = change.version === 1 ? [`created with ${many(change.added.count, "item")}`] : [];
  const fields = Object.entries(change.fields).map(([field, { before, after }]) => `${field.replaceAll("_", " ")}: ${written(before)} → ${written(after)}`);
  const items = change.version === 1 ? [] : ofItems(change, true);
  return [...created, ...fields, ...items];
}

function ofItems({ added, retired, changed, reordered }, named = false) {
  const said = ({ count, items }, what) => {
    if (!count) return null;
    const names = named ? `: ${items.slice(0, 5).join(", ")}${count > 5 ? ", …" : ""}` : "";
    return `${many(count, "item")} ${what}${names}`;
  };
  return [said(added, "added"), said(retired, "retired"), said(changed, "changed"), reordered ? "items reordered" : null].filter(Boolean);
}

function written(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value !== "object") return String(value);
  const text = Object.entries(value)
    .map(([key, of]) => `${key} ${Array.isArray(of) ? of.join("/") : of}`)
    .join(", ");
  return Array.isArray(value) ? value.join(", ") : text || "none";
}
