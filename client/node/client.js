/**
 * A slotwise service from Node: decisions, outcomes and estimates over HTTP, with nothing but Node itself.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * An item, what a click on it is worth, and what is known of it.
 * @typedef {{ id: string, value?: number, features?: Record<string, number | string> }} ItemSettings
 */

/**
 * An item in a placement: its id is enough.
 * @typedef {string | ItemSettings} Item
 */

/**
 * A placement: a named place on a page. What is left out has its default.
 * @typedef {object} Definition
 * @property {number} slots
 * @property {Item[]} items
 * @property {string | null} [policy] the default policy if null
 * @property {number | { at_most: number, catch?: number }} [window_seconds] how long an outcome is waited for; 1,800
 * @property {number} [holdout] the share of decisions that show the items as they are listed; 0
 * @property {number[] | null} [position_bias] learned if null
 * @property {Record<string, string[]>} [segments] the values of a decision's `context` that are told apart
 * @property {number | "auto" | null} [half_life] hours after which a count weighs half as much; null if counts keep their weight
 * @property {"learned" | null} [values] whether the value of a click is learned
 * @property {"live" | "shadow"} [mode]
 * @property {boolean} [exploring] whether lists other than the best one are tried; true
 * @property {Record<string, number>} [pin] items to the slots in which everybody sees them, counted from 1
 * @property {number | null} [new_items_at_most] the share of slots for items of which nothing is known
 * @property {number | null} [sticky_seconds] how long a visitor sees the same list
 */

/**
 * A placement as the service has it.
 * @typedef {Required<Pick<Definition, "slots" | "items">> & Definition & { name: string }} Placement
 */

/**
 * What to show to one visitor, the first slot's item first.
 * @typedef {object} Decision
 * @property {string} id
 * @property {string} placement
 * @property {string[]} items
 * @property {"learned" | "holdout" | "shadow"} arm
 * @property {string} expires until when its outcome counts
 * @property {string} token lets a browser report the outcome of this decision, and nothing else
 */

/**
 * A list of the caller's own, shown because the service gave none. There is nothing to report about it.
 * @typedef {object} Fallback
 * @property {null} id
 * @property {string} placement
 * @property {string[]} items
 * @property {"fallback"} arm
 * @property {null} expires
 * @property {null} token
 * @property {SlotwiseError} reason why the service gave no list
 */

/**
 * What a decision may be asked with.
 * @typedef {object} Wish
 * @property {string[]} [exclude] items to leave out
 * @property {Record<string, number>} [pin] the slots of some items; they count from 1
 * @property {Record<string, string>} [context] what is known of the visitor
 * @property {string} [visitor] who it is, where the placement is sticky
 * @property {string} [key] a name for this page view: the same key is the same decision; a new one if left out
 */

/**
 * What came of a decision: a click, several in their order, none (`clicked: null`), or a list that nobody saw.
 * @typedef {{ clicked: string | string[] | null, value?: number } | { shown: false }} Outcome
 */

/**
 * A decision as it was made, and what has become of it.
 * @typedef {Omit<Decision, "token"> & {
 *   issued: string,
 *   final: boolean,
 *   outcome: "clicked" | "no_click" | "not_shown" | null,
 *   clicked: string[],
 *   value: number | null,
 *   propensities: number[] | null,
 *   context: Record<string, string>,
 * }} DecisionRecord
 */

/**
 * What is known of a placement's items and slots; the service's own page `/docs` describes the rest of it.
 * @typedef {{
 *   items: {
 *     id: string,
 *     attractiveness: number,
 *     low: number,
 *     high: number,
 *     probability_in_best_list: number,
 *     shown: number,
 *     clicks: number,
 *   }[],
 *   position_bias: { slot: number, estimate: number, low: number, high: number }[],
 *   tally: { items: string[], clicks: number[][], passes: number[][] },
 *   decisions: {
 *     issued: number,
 *     final: number,
 *     pending: number,
 *     clicked: number,
 *     no_click: number,
 *     not_shown: number,
 *     late: number,
 *   },
 *   [field: string]: unknown,
 * }} Estimates
 */

/**
 * A change of a placement's definition.
 * @typedef {{ version: number, time: string, [field: string]: unknown }} Change
 */

/**
 * The version that a placement has to be at for a change to be made; 0 where there must be none.
 * @typedef {{ version?: number }} AtVersion
 */

/**
 * @typedef {object} Options
 * @property {string} [key] the service's key
 * @property {number} [timeoutMs] how long each try may take; 10,000
 * @property {number} [retries] how often a request is repeated; 4
 */

/** The service says that nothing was done: the same may be asked again. */
const NOTHING_DONE = new Set([429, 503]);
/** Somebody in between gave up; what was asked may have been done. */
const UNSURE = new Set([502, 504]);
/** What becomes of a connection that was never made. */
const NOT_CONNECTED = new Set([
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** Milliseconds before the first repetition, on average, doubled for each further one; and the most. */
const FIRST_WAIT = 100;
const MAX_WAIT = 5_000;

/** Anything that goes wrong between this client and a service. */
export class SlotwiseError extends Error {
  /** @override */
  name = "SlotwiseError";
}

/** The service was not reached, or did not answer, or what answered is not slotwise. */
export class ServiceUnreachable extends SlotwiseError {
  /** @override */
  name = "ServiceUnreachable";
}

/** The service refused; `document` is the problem document (RFC 9457) that it answered with. */
export class ServiceProblem extends SlotwiseError {
  /** @override */
  name = "ServiceProblem";

  /**
   * @param {number} status
   * @param {Record<string, unknown>} document
   */
  constructor(status, document) {
    super(`${status} ${document.title ?? ""}: ${document.detail ?? ""}`);
    this.status = status;
    this.document = document;
  }

  /** What is wrong with each field, where the service said so. */
  get errors() {
    const listed = /** @type {unknown} */ (this.document.errors);
    return /** @type {{ field?: string, detail?: string }[]} */ (Array.isArray(listed) ? listed : []);
  }

  /** The first field that something is wrong with. */
  get field() {
    return this.errors.find((error) => error.field !== undefined)?.field ?? null;
  }
}

/**
 * Asks a service. One client is enough for a whole program.
 *
 * A request that fails is repeated up to `retries` times, after waits that double and vary at random, or as long as the
 * service asks, up to five seconds. Every decision has a key, so that asking again for one whose answer was lost makes no
 * second one. What cannot be repeated safely, which is deleting, retiring and changes at a version, is repeated only if
 * nothing can have been done: there was no connection, or the service said 429 or 503.
 */
export class Client {
  #url;
  /** @type {Record<string, string>} */
  #headers;
  #timeoutMs;
  #retries;

  /**
   * @param {string} url where the service is, with the path that a proxy has it under
   * @param {Options} [options]
   */
  constructor(url, { key, timeoutMs = 10_000, retries = 4 } = {}) {
    const parsed = URL.canParse(url) ? new URL(url) : null;
    if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.search || parsed.hash) {
      throw new TypeError(`url must be http://HOST:PORT or https://HOST, got ${JSON.stringify(url)}`);
    }
    if (key !== undefined && !/^[!-~]+$/.test(key)) {
      throw new TypeError("key must be printable ASCII without spaces");
    }
    // a timer of Node cannot wait longer
    if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) {
      throw new TypeError(`timeoutMs must be above 0 and below 2147483648, got ${timeoutMs}`);
    }
    if (!Number.isInteger(retries) || retries < 0) {
      throw new TypeError(`retries must be a whole number of at least 0, got ${retries}`);
    }
    this.#url = url.replace(/\/+$/, "");
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#headers = { "Content-Type": "application/json", Accept: "application/json" };
    if (key !== undefined) this.#headers.Authorization = `Bearer ${key}`;
  }

  /** Where the service is. */
  get url() {
    return this.#url;
  }

  /**
   * What to show to one visitor. With a `fallback`, a list of your own, it never throws because of the service: if
   * there is no decision to be had, the answer is that list, with `token` and `id` null and the `reason`.
   *
   * @overload
   * @param {string} placement
   * @param {Wish & { fallback: string[] }} wish
   * @returns {Promise<Decision | Fallback>}
   */
  /**
   * @overload
   * @param {string} placement
   * @param {Wish} [wish]
   * @returns {Promise<Decision>}
   */
  /**
   * @param {string} placement
   * @param {Wish & { fallback?: string[] }} [wish]
   * @returns {Promise<Decision | Fallback>}
   */
  async decide(placement, { key = randomUUID(), fallback, ...wish } = {}) {
    if (typeof key !== "string" || !/^[ -~]{1,200}$/.test(key)) {
      throw new TypeError(`key must be 1 to 200 printable characters of ASCII, got ${JSON.stringify(key)}`);
    }
    try {
      const answer = await this.#ask("POST", `${of(placement)}/decisions`, {
        content: wish,
        headers: { "Idempotency-Key": key },
      });
      if (typeof answer.token !== "string" || !Array.isArray(answer.items)) throw this.#foreign();
      return /** @type {Decision} */ (answer);
    } catch (reason) {
      if (fallback === undefined || !(reason instanceof SlotwiseError)) throw reason;
      return { id: null, placement, items: fallback, arm: "fallback", expires: null, token: null, reason };
    }
  }

  /**
   * Report what came of a decision; true if that was known before.
   *
   * About a fallback nothing is reported. A `ServiceProblem` of status 409 says that another outcome stands, 410 that the
   * deadline has passed; the latter can also be the answer to a repetition whose first try was recorded in time.
   *
   * @param {Decision | Fallback | string} decision
   * @param {Outcome} outcome
   * @returns {Promise<boolean>}
   */
  async outcome(decision, outcome) {
    const id = typeof decision === "string" ? decision : decision.id;
    if (id === null) return false;
    const answer = await this.#ask("PUT", `/v1/decisions/${quoted(id)}/outcome`, { content: outcome });
    return answer.duplicate === true;
  }

  /**
   * A decision as it was made, and what has become of it; status 404 where there is none.
   * @param {string} id
   * @returns {Promise<DecisionRecord>}
   */
  async decision(id) {
    return /** @type {any} */ (await this.#ask("GET", `/v1/decisions/${quoted(id)}`));
  }

  /**
   * Create a placement, or replace all of it: what is left out gets its default, and no item stays.
   * @param {string} name
   * @param {Definition} definition
   * @param {AtVersion} [at]
   * @returns {Promise<Placement>}
   */
  async putPlacement(name, definition, at) {
    return /** @type {any} */ (await this.#change("PUT", of(name), definition, at));
  }

  /**
   * Change the fields that are named, null being the default, and leave the others; a list replaces a list.
   * @param {string} name
   * @param {{ [Field in keyof Definition]?: Definition[Field] | null }} changes
   * @param {AtVersion} [at]
   * @returns {Promise<Placement>}
   */
  async patchPlacement(name, changes, at) {
    return /** @type {any} */ (await this.#change("PATCH", of(name), changes, at));
  }

  /**
   * Delete a placement for good, with its decisions, its tally and its counters.
   * @param {string} name
   * @param {AtVersion} [at]
   * @returns {Promise<void>}
   */
  async deletePlacement(name, at) {
    await this.#change("DELETE", `${of(name)}?confirm=${quoted(name)}`, undefined, at);
  }

  /**
   * Add an item, or replace what is said of one.
   * @param {string} placement
   * @param {string} item
   * @param {Omit<ItemSettings, "id">} [settings]
   * @param {AtVersion} [at]
   * @returns {Promise<ItemSettings>}
   */
  async putItem(placement, item, settings = {}, at) {
    return /** @type {any} */ (await this.#change("PUT", `${of(placement)}/items/${quoted(item)}`, settings, at));
  }

  /**
   * Show an item no more; what was learned of it stays. Status 404 where there is none.
   * @param {string} placement
   * @param {string} item
   * @param {AtVersion} [at]
   * @returns {Promise<ItemSettings>}
   */
  async retireItem(placement, item, at) {
    return /** @type {any} */ (await this.#change("DELETE", `${of(placement)}/items/${quoted(item)}`, undefined, at));
  }

  /**
   * The version that a placement is at, for a change that must not undo another; 0 where there is none.
   * @param {string} name
   * @returns {Promise<number>}
   */
  async version(name) {
    try {
      const answer = await this.#answered("GET", of(name));
      const version = Number((answer.headers.get("etag") ?? "").replaceAll('"', "") || Number.NaN);
      if (!Number.isInteger(version)) throw this.#foreign();
      return version;
    } catch (problem) {
      if (problem instanceof ServiceProblem && problem.status === 404) return 0;
      throw problem;
    }
  }

  /**
   * Every placement, without its items.
   * @returns {Promise<Omit<Placement, "items">[]>}
   */
  async placements() {
    return /** @type {any} */ ((await this.#ask("GET", "/v1/placements")).placements ?? []);
  }

  /**
   * A placement as it was put.
   * @param {string} name
   * @returns {Promise<Placement>}
   */
  async placement(name) {
    return /** @type {any} */ (await this.#ask("GET", of(name)));
  }

  /**
   * What changed in a placement's definition and when, the newest first.
   * @param {string} name
   * @returns {Promise<Change[]>}
   */
  async changes(name) {
    return /** @type {any} */ ((await this.#ask("GET", `${of(name)}/changes`)).changes ?? []);
  }

  /**
   * What is known of a placement's items and slots, and what became of its decisions, for all visitors or a segment.
   * The uplift is since the start, or between two times, or over a period as in 24h, 7d and 4w.
   * @param {string} placement
   * @param {{ segment?: Record<string, string>, since?: Date, until?: Date, period?: string }} [asked]
   * @returns {Promise<Estimates>}
   */
  async estimates(placement, { segment = {}, ...times } = {}) {
    const query = queryOf(times);
    for (const [key, value] of Object.entries(segment)) query.append("segment", `${key}:${value}`);
    return /** @type {any} */ (await this.#ask("GET", `${of(placement)}/estimates?${query}`));
  }

  /**
   * What happened to a placement by hour or by day, in UTC; by default in the last 7 or 90 days.
   * @param {string} placement
   * @param {{ by?: "hour" | "day", since?: Date, until?: Date }} [asked]
   * @returns {Promise<{ periods: Record<string, unknown>[], changes: Change[], [field: string]: unknown }>}
   */
  async history(placement, asked = {}) {
    return /** @type {any} */ (await this.#ask("GET", `${of(placement)}/history?${queryOf({ by: "day", ...asked })}`));
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} content
   * @param {AtVersion} [at]
   */
  #change(method, path, content, { version } = {}) {
    /** @type {Record<string, string>} */
    let headers = {};
    if (version !== undefined) headers = version === 0 ? { "If-None-Match": "*" } : { "If-Match": `"${version}"` };
    // at a version, or of what must be there, a second time is refused though the first was done
    return this.#ask(method, path, { content, headers, again: version === undefined && method !== "DELETE" });
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {Request} [request]
   * @returns {Promise<Record<string, unknown>>}
   *
   * @typedef {{ content?: unknown, headers?: Record<string, string>, again?: boolean }} Request
   */
  async #ask(method, path, request) {
    const { text } = await this.#answered(method, path, request);
    const found = parsed(text);
    if (found === null) throw this.#foreign();
    return found;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {Request} [request]
   */
  async #answered(method, path, { content, headers = {}, again = true } = {}) {
    const body = content === undefined ? undefined : JSON.stringify(content);
    for (let attempt = 0; ; attempt++) {
      const last = attempt === this.#retries;
      let wait = Math.min(MAX_WAIT, FIRST_WAIT * 2 ** attempt) * 2 * Math.random();
      try {
        const answer = await this.#once(method, path, { ...this.#headers, ...headers }, body);
        if (answer.ok) return answer;
        if (last || !(NOTHING_DONE.has(answer.status) || (again && UNSURE.has(answer.status)))) {
          throw new ServiceProblem(answer.status, problemOf(answer));
        }
        const asked = Number(answer.headers.get("retry-after") ?? 0) * 1000;
        if (asked > wait) wait = Math.min(MAX_WAIT, asked);
      } catch (failure) {
        if (failure instanceof SlotwiseError) throw failure;
        const { code, reason } = described(failure);
        const connected = !NOT_CONNECTED.has(code);
        if (last || (connected && !again)) {
          const what = connected ? "did not answer" : "cannot be reached";
          throw new ServiceUnreachable(`${this.#url} ${what}: ${reason}`, { cause: failure });
        }
      }
      await sleep(wait);
    }
  }

  /**
   * One try, up to the end of the answer's body.
   * @param {string} method
   * @param {string} path
   * @param {Record<string, string>} headers
   * @param {string | undefined} body
   */
  async #once(method, path, headers, body) {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    // a redirect would turn a question into another one
    const answer = await fetch(this.#url + path, { method, headers, body, signal, redirect: "manual" });
    const text = await answer.text();
    return { ok: answer.ok, status: answer.status, title: answer.statusText, headers: answer.headers, text };
  }

  #foreign() {
    return new ServiceUnreachable(`${this.#url} does not answer as slotwise does`);
  }
}

/** @param {string} placement */
function of(placement) {
  return `/v1/placements/${quoted(placement)}`;
}

/** @param {string} name */
function quoted(name) {
  if (typeof name !== "string" || name === "" || !name.isWellFormed()) {
    throw new TypeError(`a name must be text, got ${JSON.stringify(name)}`);
  }
  if (name === "." || name === "..") {
    throw new TypeError(`a name cannot be ${name}, which fetch takes for a part of the address and drops`);
  }
  return encodeURIComponent(name);
}

/** @param {Record<string, string | Date | undefined>} asked */
function queryOf(asked) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined) query.append(name, value instanceof Date ? value.toISOString() : value);
  }
  return query;
}

/**
 * @param {string} text
 * @returns {Record<string, unknown> | null}
 */
function parsed(text) {
  try {
    const found = JSON.parse(text);
    return typeof found === "object" && found !== null && !Array.isArray(found) ? found : null;
  } catch {
    return null;
  }
}

/**
 * The problem document, or one made of what somebody in between answered.
 * @param {{ status: number, title: string, text: string }} answer
 */
function problemOf({ status, title, text }) {
  const found = parsed(text);
  return found ? { title, ...found } : { title, status, detail: text.slice(0, 200) };
}

/** @param {unknown} failure */
function described(failure) {
  const error = /** @type {Error & { code?: string, cause?: any }} */ (failure);
  // Node tries all addresses of a host, and gathers what became of each
  const cause = error.cause?.errors?.[0] ?? error.cause ?? error;
  return { code: String(cause.code ?? ""), reason: String(cause.message || cause.code || error.message) };
}
