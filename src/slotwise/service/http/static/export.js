/* What is known of a placement as files to keep: made in the browser from what the API answers. */

import { ask, path } from "./api.js";

/** "a, b" and "say ""x""" are one cell each, and a text that a spreadsheet would run is a text. */
function cell(value) {
  if (value === null || value === undefined) return "";
  let text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

function flat(document, before = "") {
  return Object.entries(document).reduce((row, [name, value]) => {
    const whole = before + name;
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return { ...row, ...flat(value, `${whole}.`) };
    return { ...row, [whole]: value };
  }, {});
}

const pretty = (found) => JSON.stringify(found, null, 2) + "\n";

/** What can be had: a name, and how a file is made of what an address answers. */
export const EXPORTS = {
  items: { label: "Items with their estimates, CSV", rest: ["estimates"], ending: "csv", write: (found) => csv(found.items) },
  days: { label: "History by day, CSV", rest: ["history"], ending: "csv", write: (found) => csv(found.periods.map((one) => flat(one))) },
  changes: { label: "Changes, JSON", rest: ["changes"], ending: "json", write: pretty },
  definition: { label: "Definition, JSON, as PUT takes it", rest: [], ending: "json", write: ({ name, ...rest }) => pretty(rest) },
  estimates: { label: "All estimates and the tally, JSON", rest: ["estimates"], ending: "json", write: pretty },
};

/** Save one of them as a file. */
export async function save(called, which) {
  const { rest, ending, write } = EXPORTS[which];
  const { body } = await ask(path("placements", called, ...rest));
  const address = URL.createObjectURL(new Blob([write(body)], { type: ending === "csv" ? "text/csv" : "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${called.replace(/[^\p{L}\p{N}._-]+/gu, "_")}-${which}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
