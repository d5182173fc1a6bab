/* Where the service is on its host: at the top, or below the path that a proxy has it under. */

/** That path, or nothing; addresses elsewhere are written as if it were at the top, and get this in front. */
export const ROOT = new URL("..", import.meta.url).pathname.slice(0, -1);

/** The path of this page, as if the service were at the top. */
export function here() {
  return location.pathname.slice(ROOT.length);
}
