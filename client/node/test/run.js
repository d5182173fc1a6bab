/**
 * Runs the tests against a service of their own, or against the one at SLOTWISE_URL.
 *
 * The service is started by the Python at SLOTWISE_PYTHON, which must have slotwise; the repository's own if left out.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const OWN_PYTHON = join(HERE, "../../../.venv/bin/python");
const PYTHON = process.env.SLOTWISE_PYTHON ?? (existsSync(OWN_PYTHON) ? OWN_PYTHON : "python3");
const SERVE = "from slotwise.cli import main; main()";

/** One below those that systems give to whoever wants any, so that nobody is given it before it is used. */
async function freePort() {
  for (let port = 10_000 + ((61 * process.pid) % 20_000); ; port++) {
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
      return port;
    } catch {
      // taken: the next one
    } finally {
      server.close();
    }
  }
}

/** @param {string} folder */
async function serve(folder) {
  const url = `http://127.0.0.1:${await freePort()}`;
  const log = openSync(join(folder, "log"), "w");
  const service = spawn(PYTHON, ["-c", SERVE, "serve", "--port", new URL(url).port], {
    cwd: folder,
    // the few decisions of the tests are not worth compiling for, and nothing is refused because the machine is busy
    env: {
      ...process.env,
      SLOTWISE_COMPILE: "never",
      SLOTWISE_STORE: `sqlite:///${folder}/store.db`,
      SLOTWISE_WRITE_SECONDS: "60",
    },
    stdio: ["ignore", log, log],
  });
  const failed = once(service, "exit").then(() => {
    throw new Error(`${PYTHON} ended:\n${readFileSync(join(folder, "log"), "utf8")}`);
  });
  failed.catch(() => {});
  while (!(await Promise.race([failed, isReady(url)]))) await sleep(50);
  return { url, service };
}

/** @param {string} url */
async function isReady(url) {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** @param {string} url */
async function test(url) {
  const files = readdirSync(HERE).filter((name) => name.endsWith(".test.js"));
  const tests = spawn(process.execPath, ["--test", ...files.map((name) => join(HERE, name))], {
    env: { ...process.env, SLOTWISE_URL: url },
    stdio: "inherit",
  });
  const [code] = await once(tests, "exit");
  return code ?? 1;
}

if (process.env.SLOTWISE_URL) {
  process.exitCode = await test(process.env.SLOTWISE_URL);
} else {
  const folder = mkdtempSync(join(tmpdir(), "slotwise-node-"));
  try {
    const { url, service } = await serve(folder);
    try {
      process.exitCode = await test(url);
    } finally {
      service.kill();
      if (service.exitCode === null) await once(service, "exit");
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
