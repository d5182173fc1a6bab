/* Elements from data. Text is always text: an item's name cannot become markup. */

import { ROOT } from "./root.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "href" && value.startsWith("/")) element.setAttribute(name, ROOT + value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element: el("p", {class: "quiet", onclick: f}, "text", another). Attributes that are null or false are left out. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for an SVG element. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A user's text, isolated so that its writing direction does not affect the text around it. */
export function name(text) {
  return el("bdi", { title: text.length > 60 ? text : null }, text);
}

/** The name of an item for people, or its id. */
export function called(id, labels) {
  return labels[id]?.name ?? id;
}

/** An item as people know it: its picture, and its name as a link to its own page. */
export function item(id, labels, { picture = false } = {}) {
  const { url, image } = labels[id] ?? {};
  const text = el("bdi", { title: labels[id]?.name ? id : id.length > 60 ? id : null }, called(id, labels));
  return [
    // a picture of another host: without the address of this page, and nothing if it cannot be had
    picture && image ? el("img", { class: "thumb", src: image, alt: "", loading: "lazy", decoding: "async", referrerpolicy: "no-referrer", onerror: (event) => event.target.remove() }) : null,
    url ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text) : text,
  ];
}

/** A question whose answer opens: why("How is this computed?", "…", "…"). */
export function why(question, ...answers) {
  return el(
    "details",
    { class: "why", "data-key": question },
    el("summary", { "data-key": `open:${question}` }, question),
    answers.map((answer) => (typeof answer === "string" ? el("p", null, answer) : answer)),
  );
}

/** Content that is folded until the viewer opens it: folded("All checks", …). */
export function folded(title, ...content) {
  return el("details", { class: "folded", "data-key": title }, el("summary", { "data-key": `open:${title}` }, title), content);
}

/** A group of buttons, one of which is pressed: choices("Period", {"7d": "7 days"}, "7d", (value) => …). */
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

/** Replace the content of a container; keeps open details, the focus, and the scroll position of the page and of elements. */
export function swap(container, ...fresh) {
  const open = new Set([...container.querySelectorAll("details[open][data-key]")].map((details) => details.dataset.key));
  const scrolled = new Map([...container.querySelectorAll("[data-key]")].map((element) => [element.dataset.key, element.scrollTop]));
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  container.replaceChildren(...fresh.flat().filter(Boolean));
  for (const details of container.querySelectorAll("details[data-key]")) if (open.has(details.dataset.key)) details.open = true;
  for (const element of container.querySelectorAll("[data-key]")) element.scrollTop = scrolled.get(element.dataset.key) ?? 0;
  if (focused) [...container.querySelectorAll("[data-key]")].find((element) => element.dataset.key === focused)?.focus({ preventScroll: true });
}
