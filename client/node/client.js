/**
 * A client of a slotwise service for Node: decisions, outcomes and estimates over HTTP, without dependencies.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * An item, the value of a click on it, and its features.
 * @typedef {{ id: string, value?: number, features?: Record<string, number | string>, name?: string, url?: string, image?: string }} ItemSettings
 */

/**
 * An item in a placement: its id is enough.
 * @typedef {string | ItemSettings} Item
 */

/**
 * An event whose rate in the learned arm must not fall below the holdout's by more than the part `worse_by`.
 * @typedef {{ metric: string, event: string, worse_by: number, then?: "alert" | "control" }} Guardrail
 */

/**
 * A placement: a named place on a page. Omitted fields have their defaults.
 * @typedef {object} Definition
 * @property {number} slots
 * @property {Item[]} items
 * @property {string | null} [policy] the default policy if null
 * @property {number | { at_most: number, catch?: number }} [window_seconds] seconds until a decision is final; 1,800
 * @property {number} [holdout] the share of decisions that show the control order; 0
 * @property {number[] | null} [position_bias] learned if null
 * @property {Record<string, string[]>} [segments] the values of a decision's `context` that form segments
 * @property {number | "auto" | null} [half_life] hours after which a count weighs half as much; null if counts keep their weight
 * @property {"learned" | null} [values] whether the value of a click is learned
 * @property {Record<string, number | "value"> | null} [reward] named events and what each is worth; "value" for its value
 * @property {number} [reward_days] days in which events of a decision are accepted; 0
 * @property {Guardrail[]} [guardrails] events whose rate per view is compared with the holdout's
 * @property {string | null} [alert_url] webhook for signed alerts
 * @property {"live" | "shadow" | "held"} [mode]
 * @property {boolean} [exploring] whether lists other than the best one are tried; true
 * @property {Record<string, number>} [pin] the slot of each pinned item, counted from 1
 * @property {number | null} [new_items_at_most] cold-start cap: the share of slots for items with no counted outcome
 * @property {number | null} [sticky_seconds] how long a visitor sees the same list
 */

/**
 * A placement as the service has it.
 * @typedef {Required<Pick<Definition, "slots" | "items">> & Definition & { name: string }} Placement
 */

/**
 * A list for one page view, the item of the first slot first.
 * @typedef {object} Decision
 * @property {string} id
 * @property {string} placement
 * @property {string[]} items
 * @property {"learned" | "holdout" | "shadow"} arm
 * @property {string} expires the deadline of its outcome
 * @property {string} token lets a browser report the outcome of this decision, and nothing else
 */

/**
 * The caller's fallback list, used because the service gave none. It has no outcome to report.
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
 * A candidate with features, for a placement with `max_items`.
 * @typedef {{ id: string, features?: Record<string, string | number> }} Candidate
 */

/**
 * The options of a decision request.
 * @typedef {object} DecisionRequest
 * @property {string[]} [exclude] items to leave out
 * @property {Record<string, number>} [pin] the slot of each pinned item, counted from 1
 * @property {(string | Candidate)[]} [candidates] the only items that may be shown
 * @property {Record<string, string>} [context] the visitor's context, by key
 * @property {string} [visitor] an id of the visitor, for sticky lists and caps
 * @property {string} [address] the visitor's IP address, for caps
 * @property {string} [key] idempotency key: the same key returns the same decision; random if omitted
 */

/**
 * An event of a placement's `reward`, such as a purchase.
 * @typedef {{ name: string, value?: number }} Event
 */

/**
 * An event after the outcome, with an id of your choice: the same id twice is one event.
 * @typedef {Event & { event_id: string }} LaterEvent
 */

/**
 * The outcome of a decision: a click, several in order, none (`clicked: null`), or a list that was not shown.
 * @typedef {{ clicked: string | string[] | null, value?: number, events?: Event[] } | { shown: false }} Outcome
 */

/**
 * A decision with its outcome so far.
 * @typedef {Omit<Decision, "token"> & {
 *   issued: string,
 *   final: boolean,
 *   outcome: "clicked" | "no_click" | "not_shown" | null,
 *   clicked: string[],
 *   value: number | null,
 *   events: { name: string, value: number | null, event_id: string | null }[],
 *   propensities: number[] | null,
 *   context: Record<string, string>,
 * }} DecisionRecord
 */

/**
 * The estimates of a placement's items and slots. The HTTP reference describes the other fields.
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
 * The version that a placement must have for a change to be applied; 0 if it must not exist.
 * @typedef {{ version?: number }} AtVersion
 */

/**
 * @typedef {object} Options
 * @property {string} [key] the API key
 * @property {number} [timeoutMs] time limit of each attempt, in milliseconds; 10,000
 * @property {number} [retries] maximum number of retries; 4
 */

/** Nothing was changed: any request may be repeated. */
const NOTHING_DONE = new Set([429, 503]);
/** A proxy gave up: the request may have been carried out. */
const UNSURE = new Set([502, 504]);
/** Error codes of connections that were never opened. */
const NOT_CONNECTED = new Set([
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** Mean wait before the first retry, doubled for each further one, and the maximum; in milliseconds. */
const FIRST_WAIT = 100;
const MAX_WAIT = 5_000;

/** The base class of all errors of this client. */
export class SlotwiseError extends Error {
  /** @override */
  name = "SlotwiseError";
}

/** The service was not reached, did not answer, or the answer is not from slotwise. */
export class ServiceUnreachable extends SlotwiseError {
  /** @override */
  name = "ServiceUnreachable";
}

/** The service refused the request; `document` is its error response (RFC 9457). */
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

  /** The faulty fields, if the service named them. */
  get errors() {
    const listed = /** @type {unknown} */ (this.document.errors);
    return /** @type {{ field?: string, detail?: string }[]} */ (Array.isArray(listed) ? listed : []);
  }

  /** The first faulty field. */
  get field() {
    return this.errors.find((error) => error.field !== undefined)?.field ?? null;
  }
}

/**
 * A client of one service. A program needs only one.
 *
 * A failed request is retried up to `retries` times, with exponential backoff and jitter, or after the time that the
 * service asks for, up to five seconds. Every decision request has an idempotency key, so a retry never makes a second
 * decision. Deleting, retiring and changes at a version are retried only if the first attempt changed nothing: no
 * connection was made, or the service answered 429 or 503.
 */
export class Client {
  #url;
  /** @type {Record<string, string>} */
  #headers;
  #timeoutMs;
  #retries;

  /**
   * @param {string} url the address of the service, with a proxy's path if there is one
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

  /** The address of the service. */
  get url() {
    return this.#url;
  }

  /**
   * A list for one page view. With a `fallback` list it never throws because of the service: if the service gives no
   * decision, the result is that list, with `token` and `id` null and the `reason`.
   *
   * @overload
   * @param {string} placement
   * @param {DecisionRequest & { fallback: string[] }} request
   * @returns {Promise<Decision | Fallback>}
   */
  /**
   * @overload
   * @param {string} placement
   * @param {DecisionRequest} [request]
   * @returns {Promise<Decision>}
   */
  /**
   * @param {string} placement
   * @param {DecisionRequest & { fallback?: string[] }} [request]
   * @returns {Promise<Decision | Fallback>}
   */
  async decide(placement, { key = randomUUID(), fallback, ...request } = {}) {
    if (typeof key !== "string" || !/^[ -~]{1,200}$/.test(key)) {
      throw new TypeError(`key must be 1 to 200 printable characters of ASCII, got ${JSON.stringify(key)}`);
    }
    try {
      const answer = await this.#ask("POST", `${of(placement)}/decisions`, {
        content: request,
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
   * Report the outcome of a decision; true if the same outcome was recorded before.
   *
   * A fallback reports nothing. A `ServiceProblem` of status 409 means that another outcome stands, 410 that the
   * deadline has passed; 410 can also answer a retry whose first attempt was recorded in time.
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
   * Add events to a decision; true if all of them were recorded before.
   *
   * A fallback has no events. A `ServiceProblem` of status 409 means that an event of the same id has another name or
   * value, 410 that the placement's `reward_days` have passed.
   *
   * @param {Decision | Fallback | string} decision
   * @param {LaterEvent[]} events
   * @returns {Promise<boolean>}
   */
  async addEvents(decision, events) {
    const id = typeof decision === "string" ? decision : decision.id;
    if (id === null) return false;
    const answer = await this.#ask("POST", `/v1/decisions/${quoted(id)}/events`, { content: { events } });
    return answer.duplicate === true;
  }

  /**
   * A decision with its outcome so far; status 404 if there is none.
   * @param {string} id
   * @returns {Promise<DecisionRecord>}
   */
  async decision(id) {
    return /** @type {any} */ (await this.#ask("GET", `/v1/decisions/${quoted(id)}`));
  }

  /**
   * Create a placement, or replace it: omitted fields get their defaults, omitted items are retired.
   * @param {string} name
   * @param {Definition} definition
   * @param {AtVersion} [at]
   * @returns {Promise<Placement>}
   */
  async putPlacement(name, definition, at) {
    return /** @type {any} */ (await this.#change("PUT", of(name), definition, at));
  }

  /**
   * Change the given fields and leave the others; null restores the default, and a list replaces a list.
   * @param {string} name
   * @param {{ [Field in keyof Definition]?: Definition[Field] | null }} changes
   * @param {AtVersion} [at]
   * @returns {Promise<Placement>}
   */
  async patchPlacement(name, changes, at) {
    return /** @type {any} */ (await this.#change("PATCH", of(name), changes, at));
  }

  /**
   * Delete a placement with its decisions, tally and counters. This cannot be undone.
   * @param {string} name
   * @param {AtVersion} [at]
   * @returns {Promise<void>}
   */
  async deletePlacement(name, at) {
    await this.#change("DELETE", `${of(name)}?confirm=${quoted(name)}`, undefined, at);
  }

  /**
   * Add an item, or replace its settings.
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
   * Stop showing an item; its counts stay. Status 404 if there is none.
   * @param {string} placement
   * @param {string} item
   * @param {AtVersion} [at]
   * @returns {Promise<ItemSettings>}
   */
  async retireItem(placement, item, at) {
    return /** @type {any} */ (await this.#change("DELETE", `${of(placement)}/items/${quoted(item)}`, undefined, at));
  }

  /**
   * The version of a placement, for changes that must not overwrite others; 0 if it does not exist.
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
   * The definition of a placement.
   * @param {string} name
   * @returns {Promise<Placement>}
   */
  async placement(name) {
    return /** @type {any} */ (await this.#ask("GET", of(name)));
  }

  /**
   * The changes of a placement's definition, the newest first.
   * @param {string} name
   * @returns {Promise<Change[]>}
   */
  async changes(name) {
    return /** @type {any} */ ((await this.#ask("GET", `${of(name)}/changes`)).changes ?? []);
  }

  /**
   * The estimates of a placement's items and slots, and the counts of its decisions, for all visitors or a segment.
   * The uplift is since the start, between two times, or over a period such as 24h, 7d or 4w.
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
   * The counts of a placement by hour or by day, in UTC; by default of the last 7 or 90 days.
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
    // a retry of a conditional change is refused although the first attempt was carried out
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
