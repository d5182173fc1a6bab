/* The path of the service on its host. */

/** The path that a proxy serves it under, or an empty text: a prefix of every address. */
export const ROOT = new URL("..", import.meta.url).pathname.slice(0, -1);

/** The path of this page without that prefix. */
export function here() {
  return location.pathname.slice(ROOT.length);
}
