/**
 * A website with a learned list, to copy from: `slotwise serve`, `node client/node/example_site.js`, http://127.0.0.1:8080.
 *
 * The front page asks the service for a decision, and no other page does. A script on it reports what came of the list.
 * Visitors who come back within ten minutes, with the back button or by reloading, see the same list, which is still the
 * same decision. If the service does not answer, the page shows a list of its own, and nothing is reported.
 */

import { randomBytes } from "node:crypto";
import { createServer } from "node:http";

// on a site of your own: from "slotwise-client"
import { Client, ServiceProblem } from "./client.js";

const URL_OF_SERVICE = process.env.SLOTWISE_URL ?? "http://127.0.0.1:8000";
/** Where visitors' browsers reach the service, if that is elsewhere. */
const PUBLIC_URL = (process.env.SLOTWISE_PUBLIC_URL ?? URL_OF_SERVICE).replace(/\/+$/, "");
const DRINKS = ["tea", "coffee", "milk", "juice", "water", "cocoa"];
const SHOWN = 3;
const WINDOW = 600;

const client = new Client(URL_OF_SERVICE, {
  key: process.env.SLOTWISE_SERVER_KEY,
  // that a visitor waits for the service, at each of two tries
  timeoutMs: Number(process.env.SLOTWISE_TIMEOUT_MS ?? 500),
  retries: 1,
});

/**
 * What to show in this page view: one decision, however often it is asked for; our own list if the service gives none.
 * @param {string} view
 */
async function decide(view) {
  const request = { key: view, fallback: DRINKS.slice(0, SHOWN) };
  const decision = await client.decide("drinks", request);
  if (decision.token !== null) return decision;
  console.error(decision.reason.message);
  if (!(decision.reason instanceof ServiceProblem) || decision.reason.status !== 404) return decision;
  // the first visitor of all; at version 0, so that it replaces nothing that somebody made meanwhile
  const definition = { slots: SHOWN, items: DRINKS, window_seconds: WINDOW };
  await client.putPlacement("drinks", definition, { version: 0 }).catch((problem) => console.error(problem.message));
  return client.decide("drinks", request);
}

/** @param {Awaited<ReturnType<typeof decide>>} decision */
function frontPage({ items, token }) {
  const links = items.map((item) => {
    const name = escaped(item);
    return `<li><a href="/drinks/${encodeURIComponent(item)}" data-item="${name}">${name}</a></li>`;
  });
  const script = `<script src="${escaped(PUBLIC_URL)}/slotwise.js"></script>
<script>
  const list = document.getElementById("drinks");
  slotwise.report(list, { token: list.dataset.token });
</script>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Drinks</title>
<h1>Drinks</h1>
<ol id="drinks" data-token="${escaped(token ?? "")}">${links.join("")}</ol>
${token === null ? "" : script}`;
}

/** @param {string} drink */
function drinkPage(drink) {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(drink)}</title>
<h1>${escaped(drink)}</h1><p><a href="/">All drinks</a></p>`;
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const server = createServer(async (request, response) => {
  const path = (request.url ?? "").split("?")[0] ?? "";
  const drink = DRINKS.find((each) => path === `/drinks/${encodeURIComponent(each)}`);
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  if (request.method !== "GET") {
    response.writeHead(405, { Allow: "GET" }).end();
  } else if (drink !== undefined) {
    response.end(drinkPage(drink));
  } else if (path !== "/") {
    // a browser asks for an icon, and others for all sorts of things: none of these is a page view
    response.writeHead(404).end();
  } else if (String(request.headers["sec-purpose"]).includes("prefetch")) {
    // a browser that guesses where its visitor goes next asks again when they do
    response.writeHead(503).end();
  } else {
    // the page view that this visitor comes back to
    const known = /(?:^|; *)view=([0-9a-f]{32})(?:;|$)/.exec(request.headers.cookie ?? "")?.[1];
    const view = known ?? randomBytes(16).toString("hex");
    response.setHeader("Set-Cookie", `view=${view}; Max-Age=${WINDOW}; Path=/; HttpOnly; SameSite=Lax`);
    // a copy that a cache shows to somebody else would have no decision of its own
    response.setHeader("Cache-Control", "no-store");
    response.end(frontPage(await decide(view)));
  }
});

server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`http://127.0.0.1:${address.port}`);
});
