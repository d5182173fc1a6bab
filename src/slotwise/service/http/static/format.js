/* Numbers, times and modes as text. */

const COUNT = new Intl.NumberFormat("en");
const AMOUNT = new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
const DATE = { day: "numeric", month: "short" };
const TIME = { hour: "2-digit", minute: "2-digit" };
// counts by day are of days in UTC
const UTC_DAY = new Intl.DateTimeFormat("en-GB", { ...DATE, timeZone: "UTC" });
const LOCAL_DAY = new Intl.DateTimeFormat("en-GB", DATE);
const HOUR = new Intl.DateTimeFormat("en-GB", { ...TIME, weekday: "short" });
const MOMENT = new Intl.DateTimeFormat("en-GB", { ...DATE, ...TIME, timeZoneName: "short" });
const AGO = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Text for a missing estimate. */
export const UNKNOWN = "not known yet";

/** The mode of a placement in words; null for live and exploring. */
export function modeText({ mode, exploring }) {
  if (mode === "shadow") return "shadow mode";
  if (mode === "held") return "held by a guardrail";
  return exploring ? null : "exploring off";
}

/** 12,345 */
export function count(number) {
  return COUNT.format(number);
}

/** Three significant digits: 0.123, 12.3, 1,230 */
export function amount(number) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e6 || size < 1e-4) return number.toExponential(2);
  return AMOUNT.format(number);
}

/** 12.3 % */
export function percent(share, digits = null) {
  const places = digits ?? (share === 0 ? 0 : Math.abs(share) >= 0.1 ? 1 : 2);
  return `${(share * 100).toFixed(places)}\u202f%`;
}

/** A probability estimated from a few hundred draws: never exactly 0 or 1. */
export function chance(probability) {
  if (probability < 0.01) return "under 1\u202f%";
  if (probability > 0.99) return "over 99\u202f%";
  return `${Math.round(probability * 100)}\u202f%`;
}

/** A difference per view as one per 1,000 views, with its sign: +5.20 */
export function perThousand(number) {
  const sign = number > 0 ? "+" : number < 0 ? "\u2212" : "";
  return sign + amount(Math.abs(1000 * number));
}

/** The unit of `perThousand`: a person can imagine clicks per 1,000 views. */
export function unit(measure) {
  return measure === "value_per_view" ? "value per 1,000 views" : "clicks per 1,000 views";
}

/** A click rate in per cent, or a value per view. */
export function measured(number, measure) {
  return measure === "value_per_view" ? amount(number) : percent(number);
}

/** a to b */
export function interval(low, high, write = amount) {
  return `${write(low)} to ${high === null ? "no upper limit" : write(high)}`;
}

/** 14 Nov, a day in UTC */
export function utcDay(time) {
  return UTC_DAY.format(new Date(time));
}

/** 14 Nov, where the viewer is */
export function day(time) {
  return LOCAL_DAY.format(new Date(time));
}

/** Sat 14:00, where the viewer is */
export function hour(time) {
  return HOUR.format(new Date(time));
}

/** 14 Nov, 14:00 CET, where the viewer is */
export function moment(time) {
  return MOMENT.format(new Date(time));
}

/** The start of an hour or day as text: this hour, 3 hours ago, yesterday */
export function ago(time, now = Date.now()) {
  const hours = Math.floor((now - Date.parse(time)) / 3_600_000);
  if (hours < 1) return "this hour";
  return hours < 48 ? AGO.format(-hours, "hour") : AGO.format(-Math.floor(hours / 24), "day");
}

/** 90 seconds, 30 minutes, 3 hours, 2 days */
export function duration(seconds) {
  const [size, unit] =
    seconds < 120 ? [1, "second"] : seconds < 7200 ? [60, "minute"] : seconds < 172800 ? [3600, "hour"] : [86400, "day"];
  const number = Math.round((seconds / size) * 10) / 10;
  return `${number} ${unit}${number === 1 ? "" : "s"}`;
}

/** 1 item, 2 items */
export function many(number, one, more = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : more}`;
}

/** A message of the service as a sentence: "there is none" is "There is none." */
export function sentence(text) {
  return text && text[0].toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");
}
