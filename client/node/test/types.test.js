/** What the client says of its types, against its code and against the OpenAPI document of the service at SLOTWISE_URL. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import openapiTS, { astToString } from "openapi-typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BUILD = join(ROOT, "build");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const DECLARATIONS = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--rootDir", ".", "--outDir", "build"];

test("the types are the code's, are written down, and fit the service as it is now", async () => {
  mkdirSync(BUILD, { recursive: true });
  const document = await openapiTS(new URL(`${process.env.SLOTWISE_URL}/openapi.json`), { defaultNonNullable: false });
  writeFileSync(join(BUILD, "openapi.ts"), astToString(document));
  const compiled = spawnSync(process.execPath, [TSC, ...DECLARATIONS], { cwd: ROOT, encoding: "utf8" });
  assert.equal(compiled.status, 0, compiled.stdout);
  const [made, written] = [BUILD, ROOT].map((folder) => readFileSync(join(folder, "client.d.ts"), "utf8"));
  assert.equal(written, made, "client.d.ts is not what client.js says: npm run types");
});
