/* A list as visitors see it; items slide to their new slots when the order changes. */

import { el, svg } from "/static/dom.js";
import { percent } from "/static/format.js";

const SLIDE = { duration: 450, easing: "cubic-bezier(.2, .8, .2, 1)" };
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** A reference to a product's picture on the page. */
export function picture(id, kind) {
  return svg("svg", { class: kind, "aria-hidden": "true" }, svg("use", { href: `#picture-${id}` }));
}

export class Shelf {
  constructor(list) {
    this.list = list;
    this.cards = new Map();
  }

  /** Show a list: `now` is the list of the last visitors, `best` the truly best one. */
  show({ now, best }, items, truth) {
    const before = new Map([...this.cards].map(([id, card]) => [id, card.getBoundingClientRect().top]));
    const products = new Map(items.map((item) => [item.id, item]));
    const shown = now.filter((place) => products.has(place.id));
    const cards = shown.map((place, slot) => this.card(products.get(place.id), place.share, truth ? best[slot] === place.id : null));
    this.list.replaceChildren(...cards);
    this.cards = new Map(shown.map((place, slot) => [place.id, cards[slot]]));
    if (still.matches) return;
    for (const [id, card] of this.cards) {
      const moved = before.has(id) ? before.get(id) - card.getBoundingClientRect().top : null;
      if (moved === null) card.animate([{ opacity: 0, transform: "scale(.96)" }, { opacity: 1, transform: "none" }], SLIDE);
      else if (Math.abs(moved) > 1) card.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], SLIDE);
    }
  }

  card(item, share, right) {
    const card =
      this.cards.get(item.id) ??
      el(
        "li",
        { "data-item": item.id },
        picture(item.id, "picture"),
        el("span", { class: "name" }, item.name),
        el("span", { class: "price" }),
        el("i", { class: "sure" }),
      );
    card.querySelector(".price").textContent = `€ ${item.price} · shown to ${percent(share, 0)}`;
    card.querySelector(".sure").style.width = `${share * 100}%`;
    card.querySelector(".right")?.remove();
    if (right !== null) card.append(el("span", { class: right ? "right" : "right wrong" }, right ? "best" : "not best"));
    return card;
  }
}
