/** The client against servers that behave badly. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { test } from "node:test";

import { Client, ServiceProblem, ServiceUnreachable } from "../client.js";

const DECISION = { id: "1", placement: "home", items: ["b", "a"], arm: "learned", expires: "2030-01-01T00:00:00Z", token: "t" };

/**
 * A server whose n-th answer is what `answers[n]` does, and the last one's from then on.
 * @param {import("node:test").TestContext} context
 * @param {import("node:http").RequestListener[]} answers
 */
async function serverThat(context, ...answers) {
  /** @type {import("node:http").IncomingHttpHeaders[]} */
  const seen = [];
  const server = createHttpServer((request, response) => {
    seen.push(request.headers);
    const answer = answers[Math.min(seen.length, answers.length) - 1];
    request.resume().on("end", () => answer?.(request, response));
  });
  const url = await listening(context, server);
  context.after(() => server.closeAllConnections());
  return { url, seen };
}

/**
 * @param {import("node:test").TestContext} context
 * @param {import("node:net").Server} server
 */
async function listening(context, server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
}

/**
 * @param {number} status
 * @param {unknown} [content]
 * @param {Record<string, string>} [headers]
 * @returns {import("node:http").RequestListener}
 */
function says(status, content = { title: "Busy", status, detail: "later" }, headers = {}) {
  return (_, response) => response.writeHead(status, headers).end(JSON.stringify(content));
}

/** @type {import("node:http").RequestListener} */
const hangUp = (request) => void request.socket.destroy();
/** @type {import("node:http").RequestListener} */
const hang = () => {};
/** @type {import("node:http").RequestListener} */
const halfAnAnswer = (request, response) => {
  response.writeHead(200, { "Content-Length": "100" });
  response.write('{"id"', () => request.socket.destroy());
};

for (const [what, trouble] of /** @type {const} */ ([
  ["429", says(429)],
  ["502", says(502)],
  ["503", says(503, undefined, { "Retry-After": "0" })],
  ["504", says(504)],
  ["a connection that is closed", hangUp],
  ["half an answer", halfAnAnswer],
])) {
  test(`a decision is asked for again with the same key after ${what}`, async (context) => {
    const { url, seen } = await serverThat(context, trouble, says(201, DECISION));
    assert.deepEqual(await new Client(url, { retries: 1, key: "s3cret" }).decide("home"), DECISION);
    assert.equal(seen.length, 2);
    assert.ok(seen[0]?.["idempotency-key"]);
    assert.equal(seen[0]?.["idempotency-key"], seen[1]?.["idempotency-key"]);
    assert.equal(seen[1]?.authorization, "Bearer s3cret");
  });
}

test("an answer that does not come is asked for again", async (context) => {
  const { url, seen } = await serverThat(context, hang, says(201, DECISION));
  // on a busy machine more than the first try may take too long
  assert.deepEqual(await new Client(url, { retries: 8, timeoutMs: 500 }).decide("home"), DECISION);
  assert.ok(seen.length >= 2);
});

test("an answer that never comes is not waited for", async (context) => {
  const { url } = await serverThat(context, hang);
  const client = new Client(url, { retries: 1, timeoutMs: 50 });
  await assert.rejects(client.decide("home"), (problem) => problem instanceof ServiceUnreachable);
  assert.deepEqual((await client.decide("home", { fallback: ["x"] })).items, ["x"]);
});

test("a body that never ends is not waited for", async (context) => {
  const { url } = await serverThat(context, (_, response) => void response.writeHead(200).write('{"id'));
  await assert.rejects(new Client(url, { retries: 0, timeoutMs: 50 }).decide("home"), ServiceUnreachable);
});

for (const [what, change] of /** @type {const} */ ([
  ["deleting", (/** @type {Client} */ client) => client.deletePlacement("home")],
  ["retiring", (/** @type {Client} */ client) => client.retireItem("home", "a")],
  ["a change at a version", (/** @type {Client} */ client) => client.patchPlacement("home", {}, { version: 3 })],
])) {
  test(`${what} is repeated only if nothing can have been done`, async (context) => {
    for (const [trouble, tries] of /** @type {const} */ ([[says(503), 2], [says(502), 1], [hangUp, 1], [says(422), 1]])) {
      const { url, seen } = await serverThat(context, trouble, says(200, {}));
      const asked = change(new Client(url, { retries: 1 }));
      await (tries === 2 ? asked : assert.rejects(asked));
      assert.equal(seen.length, tries);
    }
  });
}

test("a refusal is not repeated", async (context) => {
  const { url, seen } = await serverThat(context, says(409));
  await assert.rejects(new Client(url).outcome("1", { clicked: "a" }), ServiceProblem);
  assert.equal(seen.length, 1);
});

test("a service that is not there is tried again, and then the fallback is shown and not reported", async (context) => {
  const gone = createTcpServer();
  const url = await listening(context, gone);
  gone.close();
  const client = new Client(url, { retries: 1 });
  await assert.rejects(client.decide("home"), /cannot be reached/);
  const decision = await client.decide("home", { fallback: ["x", "y"] });
  assert.deepEqual([decision.items, decision.token, decision.arm], [["x", "y"], null, "fallback"]);
  assert.equal(await client.outcome(decision, { clicked: "x" }), false);
});

test("what answers and is not slotwise is not believed", async (context) => {
  for (const content of ["<html>", "[]", "null", '"text"', '{"hello": 1}']) {
    const { url } = await serverThat(context, (_, response) => response.end(content));
    await assert.rejects(new Client(url).decide("home"), /does not answer as slotwise does/);
    await assert.rejects(new Client(url).version("home"), /does not answer as slotwise does/);
  }
});

test("a redirect is not followed, and a proxy's page becomes a problem", async (context) => {
  const { url } = await serverThat(context, (_, response) => response.writeHead(302, { Location: "/login" }).end("log in"));
  await assert.rejects(new Client(url).decide("home"), (problem) => {
    assert.ok(problem instanceof ServiceProblem);
    assert.deepEqual([problem.status, problem.document.detail], [302, "log in"]);
    return true;
  });
});

test("the path that a proxy has the service under is kept", async (context) => {
  /** @type {string[]} */
  const paths = [];
  const { url } = await serverThat(context, (request, response) => {
    paths.push(String(request.url));
    says(201, DECISION)(request, response);
  });
  await new Client(`${url}/slotwise/`).decide("a b");
  assert.deepEqual(paths, ["/slotwise/v1/placements/a%20b/decisions"]);
});
