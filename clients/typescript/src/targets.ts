/** Paths and queries, percent-encoded so that no runtime changes them before they are sent. */

import { InvalidConfiguration } from "./errors.js";

export const ROOT = "/api/v1/external";

/** Parameters that are repeated; the others hold their values separated by commas. */
const REPEATED = new Set(["tag", "custom_field"]);

/** Path and query. Undefined and null are left out. */
export function targetOf(path: string, query: Readonly<Record<string, unknown>> = {}): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    const values = Array.isArray(value) ? value : [value];
    const texts = values.map((each) => textOf(name, each));
    for (const text of REPEATED.has(name) ? texts : [texts.join(",")]) pairs.push(`${encode(name)}=${encode(text)}`);
  }
  return pairs.length > 0 ? `${path}?${pairs.join("&")}` : path;
}

/** An id as one segment of a path: an empty one would address the list. */
export function segment(id: string): string {
  if (typeof id !== "string" || ["", ".", ".."].includes(id)) {
    throw new InvalidConfiguration(`an id cannot be "${id}"`);
  }
  return encode(id);
}

/** Throws InvalidConfiguration for a name without a meaning, which would be left unread. */
export function checkNames(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new InvalidConfiguration(`there is no option "${unknown}", only ${known.join(", ")}`);
}

function textOf(name: string, value: unknown): string {
  const isDate = value instanceof Date;
  const isNumber = Number.isFinite(isDate ? value.getTime() : value);
  if (isNumber || ["string", "boolean", "bigint"].includes(typeof value)) {
    return isDate ? value.toISOString() : String(value);
  }
  throw new InvalidConfiguration(`${name} cannot be ${String(value)}`);
}

/** Throws InvalidConfiguration for half of a surrogate pair. */
function encode(text: string): string {
  if (/[\ud800-\udfff]/u.test(text)) {
    throw new InvalidConfiguration("a text with half of a surrogate pair cannot be sent");
  }
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
