/** The example site as a process of its own, asking the real service at SLOTWISE_URL. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Client } from "../client.js";

const SITE = fileURLToPath(new URL("../example_site.js", import.meta.url));
const SERVICE = String(process.env.SLOTWISE_URL);
const FALLBACK = ["tea", "coffee", "milk"];

/**
 * @param {import("node:test").TestContext} context
 * @param {string} service
 */
async function site(context, service) {
  const env = { ...process.env, SLOTWISE_URL: service, SLOTWISE_TIMEOUT_MS: "600000", PORT: "0" };
  const running = spawn(process.execPath, [SITE], { env, stdio: ["ignore", "pipe", "ignore"] });
  context.after(() => running.kill());
  const [line] = await once(running.stdout, "data");
  return String(line).trim();
}

/**
 * @param {string} address
 * @param {Record<string, string>} [headers]
 */
async function visit(address, headers = {}) {
  const page = await fetch(address, { headers });
  const text = await page.text();
  return {
    status: page.status,
    text,
    cookie: (page.headers.get("set-cookie") ?? "").split(";")[0] ?? "",
    items: [...text.matchAll(/data-item="([^"]+)"/g)].map((found) => found[1]),
    token: /data-token="([^"]*)"/.exec(text)?.[1],
  };
}

test("a visit of several pages, left and come back to, is one decision with one outcome", async (context) => {
  const client = new Client(SERVICE, { timeoutMs: 600_000 });
  const address = await site(context, SERVICE);
  const page = await visit(`${address}/`);
  assert.equal(page.items.length, 3);
  assert.ok(page.text.includes(`${SERVICE}/slotwise.js`));
  for (const item of page.items) assert.equal((await visit(`${address}/drinks/${item}`)).status, 200);
  for (const elsewhere of ["/favicon.ico", "/drinks/wine", "/index.html"]) {
    assert.equal((await visit(address + elsewhere)).status, 404);
  }
  assert.equal((await fetch(`${address}/`, { method: "HEAD" })).status, 405);
  assert.equal((await visit(`${address}/`, { "Sec-Purpose": "prefetch" })).status, 503);
  const again = await visit(`${address}/?again`, { Cookie: `a=b; ${page.cookie}; c=d` });
  assert.deepEqual([again.items, again.token], [page.items, page.token]);
  assert.equal((await client.estimates("drinks")).decisions.issued, 1);
  for (const [clicked, status] of /** @type {const} */ ([[page.items[0], 200], [page.items[0], 200], [page.items[1], 409]])) {
    const report = { method: "POST", body: JSON.stringify({ token: page.token, clicked }) };
    assert.equal((await fetch(`${SERVICE}/v1/outcomes`, report)).status, status);
  }
  assert.notEqual((await visit(`${address}/`)).token, page.token);
  assert.equal((await client.estimates("drinks")).decisions.issued, 2);
});

test("while the service is down the page shows its own list", async (context) => {
  const gone = createServer().listen(0, "127.0.0.1");
  await once(gone, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (gone.address());
  gone.close();
  const page = await visit(`${await site(context, `http://127.0.0.1:${port}`)}/`);
  assert.deepEqual(page.items, FALLBACK);
  assert.ok(!page.text.includes("<script"));
});
