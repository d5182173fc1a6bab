/* Polls a document of the service; a response without a change costs the service almost nothing. */

import { ask, Refused, Unreachable } from "./api.js";

/** Seconds between two requests, and the maximum while the service does not respond. */
const DEFAULT_WAIT = 2;
const MAX_WAIT = 15;

/**
 * Poll an address until `signal` aborts: `show(body)` gets each new document, `tell(state, why)` the connection's state.
 *
 * States are "live", "lost" (no response; it tries again) and "refused" (it stops).
 */
export async function follow(address, show, tell, signal) {
  let tag = null;
  let wait = DEFAULT_WAIT;
  while (!signal.aborted) {
    try {
      const found = await ask(address, { tag, signal });
      if (signal.aborted) return;
      if (found) {
        tag = found.tag;
        await show(found.body);
      }
      tell("live");
      wait = DEFAULT_WAIT;
    } catch (problem) {
      if (signal.aborted || problem.name === "AbortError") return;
      if (problem instanceof Unreachable || (problem instanceof Refused && problem.status >= 500)) {
        tell("lost", problem.message);
        wait = Math.min(MAX_WAIT, wait * 1.5);
      } else if (problem instanceof Refused) {
        tell("refused", problem);
        return;
      } else throw problem;
    }
    await pause(wait, signal);
  }
}

/** Wait for some seconds, and while the page is hidden; not at all when the machine comes back online. */
function pause(seconds, signal) {
  return new Promise((resolve) => {
    const done = () => {
      if (document.hidden && !signal.aborted) return;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", done);
      removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, seconds * 1000);
    document.addEventListener("visibilitychange", done);
    addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}
