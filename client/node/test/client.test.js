/** The client against the real service at SLOTWISE_URL. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Client, ServiceProblem } from "../client.js";

const client = new Client(String(process.env.SLOTWISE_URL), { timeoutMs: 600_000 });

/** A name that no other test uses. */
function fresh() {
  return `node ${randomUUID()}?`;
}

/**
 * @param {number} status
 * @returns {(problem: unknown) => boolean}
 */
function refusedWith(status) {
  return (problem) => problem instanceof ServiceProblem && problem.status === status;
}

test("a placement is put, read, listed, changed and deleted", async () => {
  const name = fresh();
  assert.equal(await client.version(name), 0);
  const made = await client.putPlacement(name, { slots: 2, items: ["ä", { id: "b/c", value: 2.5 }, "d"] }, { version: 0 });
  assert.deepEqual(made, await client.placement(name));
  assert.deepEqual(made.items, ["ä", { id: "b/c", value: 2.5 }, "d"]);
  assert.ok((await client.placements()).some((placement) => placement.name === name));
  await assert.rejects(client.putPlacement(name, { slots: 1, items: ["x"] }, { version: 0 }), refusedWith(412));
  const version = await client.version(name);
  assert.equal((await client.patchPlacement(name, { holdout: 0.5 }, { version })).holdout, 0.5);
  await assert.rejects(client.patchPlacement(name, { holdout: 0.1 }, { version }), refusedWith(412));
  assert.deepEqual(await client.putItem(name, "e f", { value: 3 }), { id: "e f", value: 3 });
  assert.deepEqual(await client.retireItem(name, "b/c"), { id: "b/c", value: 2.5 });
  assert.deepEqual((await client.placement(name)).items, ["ä", "d", { id: "e f", value: 3 }]);
  assert.equal((await client.changes(name)).length, 4);
  await client.deletePlacement(name);
  await assert.rejects(client.placement(name), refusedWith(404));
});

test("the life of a decision", async () => {
  const name = fresh();
  await client.putPlacement(name, { slots: 2, items: ["a", "b", "c"], window_seconds: 600 });
  const decision = await client.decide(name, { exclude: ["a"], pin: { c: 1 } });
  assert.deepEqual(decision.items, ["c", "b"]);
  assert.equal(decision.arm, "learned");
  assert.ok(Date.parse(decision.expires) > Date.parse("2020-01-01"));
  assert.equal(await client.outcome(decision, { clicked: null }), false);
  assert.equal(await client.outcome(decision, { clicked: ["b", "c"], value: 12.5 }), false);
  assert.equal(await client.outcome(decision.id, { clicked: ["b", "c"], value: 12.5 }), true);
  await assert.rejects(client.outcome(decision, { clicked: "c" }), refusedWith(409));
  const found = await client.decision(decision.id);
  assert.deepEqual([found.outcome, found.clicked, found.value], ["clicked", ["b", "c"], 12.5]);
  assert.equal((await client.estimates(name)).decisions.issued, 1);
  assert.equal((await client.history(name, { by: "hour" })).periods.length, 1);
});

test("events are added once, before and after the outcome", async () => {
  const name = fresh();
  await client.putPlacement(name, { slots: 1, items: ["a", "b"], reward: { cart: 2, purchase: "value" }, reward_days: 3 });
  const decision = await client.decide(name);
  assert.equal(await client.outcome(decision, { clicked: decision.items, events: [{ name: "cart" }] }), false);
  const bought = [{ event_id: "order-7", name: "purchase", value: 39 }];
  assert.equal(await client.addEvents(decision, bought), false);
  assert.equal(await client.addEvents(decision.id, bought), true);
  await assert.rejects(client.addEvents(decision, [{ event_id: "order-7", name: "cart" }]), refusedWith(409));
  await assert.rejects(client.addEvents(decision, [{ event_id: "x", name: "refund" }]), refusedWith(422));
  assert.equal((await client.decision(decision.id)).value, 41);
});

test("what is counted after the window, and what comes too late", async () => {
  const name = fresh();
  await client.putPlacement(name, { slots: 1, items: ["a", "b"], window_seconds: 0.5, segments: { device: ["mobile"] } });
  const unseen = await client.decide(name);
  await client.outcome(unseen, { shown: false }).catch((problem) => assert.ok(refusedWith(410)(problem)));
  const silent = await client.decide(name, { context: { device: "mobile" } });
  let found = await client.estimates(name);
  while (found.decisions.pending) {
    await sleep(100);
    found = await client.estimates(name);
  }
  await assert.rejects(client.outcome(silent, { clicked: silent.items }), refusedWith(410));
  assert.equal(found.decisions.final, 2);
  assert.equal((await client.estimates(name, { segment: { device: "mobile" } })).decisions.final, 1);
  assert.equal(found.tally.passes.flat().length, 2);
});

test("the same key is the same decision, and every call has a key of its own", async () => {
  const name = fresh();
  await client.putPlacement(name, { slots: 1, items: ["a", "b"] });
  const key = randomUUID();
  const [first, second] = await Promise.all([client.decide(name, { key }), client.decide(name, { key })]);
  assert.deepEqual(first, second);
  assert.notEqual((await client.decide(name)).id, (await client.decide(name)).id);
  assert.equal((await client.estimates(name)).decisions.issued, 3);
});

test("refusals carry the problem document", async () => {
  await assert.rejects(client.putPlacement(fresh(), { slots: 0, items: ["a"] }), (problem) => {
    assert.ok(problem instanceof ServiceProblem);
    assert.deepEqual([problem.status, problem.field], [422, "slots"]);
    assert.match(problem.message, /slots/);
    return true;
  });
  const decision = await client.decide(fresh(), { fallback: ["x"] });
  assert.ok(decision.arm === "fallback" && decision.reason instanceof ServiceProblem && decision.reason.status === 404);
});

test("arguments that cannot be meant are refused before anything is sent", async () => {
  for (const url of ["", "ftp://host", "127.0.0.1:8000", "http://host/?a=1", "http://host/#b"]) {
    assert.throws(() => new Client(url), /url must be/);
  }
  assert.throws(() => new Client("http://host", { key: "two words" }), /^TypeError: key must be printable/);
  for (const timeoutMs of [0, -1, Number.NaN, Infinity]) {
    assert.throws(() => new Client("http://host", { timeoutMs }), /timeoutMs must be/);
  }
  for (const retries of [-1, 0.5, Number.NaN]) assert.throws(() => new Client("http://host", { retries }), /retries must/);
  for (const name of ["", ".", "..", "\ud800"]) await assert.rejects(client.placement(name), /a name/);
  for (const key of ["", "ü", "a\nb", "a".repeat(201)]) {
    // not even with a fallback: this is a mistake of the program, and not of the service
    await assert.rejects(client.decide("home", { key, fallback: ["a"] }), /key must be/);
  }
});
