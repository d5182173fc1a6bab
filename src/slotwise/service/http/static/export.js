/* Downloads: files that the browser makes from responses of the API. */

import { ask, path } from "./api.js";

/** A cell of a CSV file: quoted if needed, and never a formula for a spreadsheet. */
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

/** An item without the numbers that are only the prior's: it was never shown. */
const known = (item) => (item.shown ? item : { ...item, attractiveness: null, low: null, high: null });

const pretty = (document) => JSON.stringify(document, null, 2) + "\n";

/** The files: a label, the path of the response, and a function that writes the file. */
export const EXPORTS = {
  items: { label: "Items with their estimates, CSV", rest: ["estimates"], ending: "csv", write: ({ items }) => csv(items.map(known)) },
  days: { label: "History by day, CSV", rest: ["history"], ending: "csv", write: ({ periods }) => csv(periods.map((period) => flat(period))) },
  changes: { label: "Changes, JSON", rest: ["changes"], ending: "json", write: pretty },
  definition: { label: "Definition, JSON, for PUT", rest: [], ending: "json", write: ({ name, ...rest }) => pretty(rest) },
  estimates: { label: "All estimates and the tally, JSON", rest: ["estimates"], ending: "json", write: pretty },
};

/** Download one of them. */
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
