/* Sends requests to the service, with the API key of this tab, and throws one of two errors. */

import { ROOT } from "./root.js";

const KEY = "slotwise-key";

/** The service rejected the request; `key` is the API key that was sent, or null. */
export class Refused extends Error {
  constructor(status, detail, key) {
    super(detail);
    this.status = status;
    this.key = key;
  }
}

/** The service did not respond. */
export class Unreachable extends Error {}

/** Set the API key that is sent with every request. It is stored for this tab only. */
export function setKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

export function getKey() {
  return sessionStorage.getItem(KEY);
}

let readOnly = false;

/** Whether this tab may change things: the API key of the last response was not a key for reading. */
export function canChange() {
  return !readOnly;
}

/** A path of the API: path("placements", name, "overview"). */
export function path(...parts) {
  return "/v1/" + parts.map(encodeURIComponent).join("/");
}

/**
 * Send a request. Resolves to {body, tag, headers}, or to null if the document has not changed since `tag`.
 *
 * A `body` is sent as JSON.
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
      // the page keeps documents by tag, so the browser need not
      cache: "no-store",
      credentials: "omit",
      signal,
    });
    text = await response.text();
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Unreachable("the service does not respond");
  }
  readOnly = response.headers.get("Slotwise-Access") === "read";
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
