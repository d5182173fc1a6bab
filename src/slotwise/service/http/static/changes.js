/* Changes of a placement as text, for marks on charts and for the change list. */

import { many } from "./format.js";

/** A short form for marks: "holdout changed, 2 items added". */
export function inShort({ version, fields, added, retired, changed, reordered }) {
  if (version === 1) return "created";
  const parts = Object.keys(fields).map((field) => `${field.replaceAll("_", " ")} changed`);
  return [...parts, ...ofItems({ added, retired, changed, reordered })].join(", ") || "changed";
}

/** Each part of a change, with the values before and after. */
export function inFull(change) {
  const created = change.version === 1 ? [`created with ${many(change.added.count, "item")}`] : [];
  const fields = Object.entries(change.fields).map(([field, { before, after }]) => `${field.replaceAll("_", " ")}: ${written(before)} → ${written(after)}`);
  const items = change.version === 1 ? [] : ofItems(change, true);
  return [...created, ...fields, ...items];
}

function ofItems({ added, retired, changed, reordered }, named = false) {
  const part = ({ count, items }, what) => {
    if (!count) return null;
    const names = named ? `: ${items.slice(0, 5).join(", ")}${count > 5 ? ", …" : ""}` : "";
    return `${many(count, "item")} ${what}${names}`;
  };
  return [part(added, "added"), part(retired, "retired"), part(changed, "changed"), reordered ? "items reordered" : null].filter(Boolean);
}

function written(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value !== "object") return String(value);
  const text = Object.entries(value)
    .map(([key, of]) => `${key} ${Array.isArray(of) ? of.join("/") : of}`)
    .join(", ");
  return Array.isArray(value) ? value.join(", ") : text || "none";
}
