/* Keeps what is shown up to date: asks now and then whether something changed, which costs the service next to nothing. */

import { ask, Refused, Unreachable } from "./api.js";

/** Between two questions, in seconds, while all is well; and the longest wait while nobody answers. */
const USUALLY = 2;
const AT_MOST = 15;

/**
 * Follow an address for as long as `signal` lasts: `show(body)` for what is new, `tell(state, why)` for how it stands.
 *
 * States are "live", "lost" (nobody answers; it is tried again) and "refused" (and then it ends).
 */
export async function follow(address, show, tell, signal) {
  let tag = null;
  let wait = USUALLY;
  while (!signal.aborted) {
    try {
      const found = await ask(address, { tag, signal });
      if (signal.aborted) return;
      if (found) {
        tag = found.tag;
        await show(found.body);
      }
      tell("live");
      wait = USUALLY;
    } catch (problem) {
      if (signal.aborted || problem.name === "AbortError") return;
      if (problem instanceof Unreachable || (problem instanceof Refused && problem.status >= 500)) {
        tell("lost", problem.message);
        wait = Math.min(AT_MOST, wait * 1.5);
      } else if (problem instanceof Refused) {
        tell("refused", problem);
        return;
      } else throw problem;
    }
    await pause(wait, signal);
  }
}

/** For so many seconds, and for as long as nobody looks; at once where the machine comes back to the network. */
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
