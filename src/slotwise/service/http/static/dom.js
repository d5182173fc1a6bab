/* Elements made from data. Text is always text: no name of an item can become markup here. */

import { ROOT } from "./root.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "href" && value.startsWith("/")) made.setAttribute(name, ROOT + value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** An element: el("p", {class: "quiet", onclick: f}, "text", another). Attributes that are null or false are left out. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for a part of a picture. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A name that somebody gave, whichever way it is written, without disturbing what stands around it. */
export function name(text) {
  return el("bdi", { title: text.length > 60 ? text : null }, text);
}

/** A term that explains itself when it is opened: why("How is this known?", "…", "…"). */
export function why(question, ...answers) {
  return el(
    "details",
    { class: "why", "data-key": question },
    el("summary", { "data-key": `open:${question}` }, question),
    answers.map((answer) => (typeof answer === "string" ? el("p", null, answer) : answer)),
  );
}

/** One of a few, as buttons that say which is chosen: choices("Period", {"7d": "7 days"}, "7d", (value) => …). */
export function choices(label, options, chosen, choose) {
  return el(
    "div",
    { class: "choices", role: "group", "aria-label": label },
    Object.entries(options).map(([value, text]) =>
      el(
        "button",
        {
          type: "button",
          "aria-pressed": String(value === chosen),
          "data-key": `${label}:${value}`,
          onclick: () => choose(value),
        },
        text,
      ),
    ),
  );
}

/** Put something new in place of what a container has; what was open stays open, the focus where it was, and the page where it is read. */
export function swap(container, ...fresh) {
  const open = new Set([...container.querySelectorAll("details[open][data-key]")].map((one) => one.dataset.key));
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  container.replaceChildren(...fresh.flat().filter(Boolean));
  for (const one of container.querySelectorAll("details[data-key]")) if (open.has(one.dataset.key)) one.open = true;
  if (focused) [...container.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused)?.focus({ preventScroll: true });
}
