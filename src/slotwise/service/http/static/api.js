/* Asks the service, with the key that was typed into this tab, and says in one of two ways that it cannot be had. */

import { ROOT } from "./root.js";

const KEY = "slotwise-key";

/** The service refused, and says why; `key` is what was sent along, or null. */
export class Refused extends Error {
  constructor(status, detail, key) {
    super(detail);
    this.status = status;
    this.key = key;
  }
}

/** Nobody answered. */
export class Unreachable extends Error {}

/** What is sent along with every request; it stays in this tab and goes with it. */
export function setKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

export function getKey() {
  return sessionStorage.getItem(KEY);
}

/** A path of the API: path("placements", name, "overview"). */
export function path(...parts) {
  return "/v1/" + parts.map(encodeURIComponent).join("/");
}

/**
 * Ask for something: {body, tag, headers}, or null where it is as it was at `tag`.
 *
 * `method` and `body` are for those who change something; a body is sent as JSON.
 */
export async function ask(address, { tag = null, method = "GET", body, headers = {}, signal } = {}) {
  const sent = { ...headers };
  const key = getKey();
  if (key !== null) sent.Authorization = `Bearer ${key}`;
  if (tag !== null) sent["If-None-Match"] = tag;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response, text;
  try {
    response = await fetch(ROOT + address, {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      // what was read before is remembered here, by tag, and not by the browser
      cache: "no-store",
      credentials: "omit",
      signal,
    });
    text = await response.text();
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Unreachable("the service does not answer");
  }
  if (response.status === 304) return null;
  if (!response.ok) throw new Refused(response.status, detail(text, response), key);
  return { body: JSON.parse(text), tag: response.headers.get("ETag"), headers: response.headers };
}

function detail(text, response) {
  try {
    return JSON.parse(text).detail || response.statusText;
  } catch {
    return response.statusText;
  }
}
