/** Paths and queries, percent-encoded so that no runtime changes them before they are sent. */
export const ROOT = "/api/v1/external";
/** Parameters that are repeated; the others hold their values separated by commas. */
const REPEATED = new Set(["tag", "custom_field"]);
/** Path and query. Undefined and null are left out. */
export function targetOf(path, query = {}) {
    const pairs = [];
    for (const [name, value] of Object.entries(query)) {
        if (value === undefined || value === null)
            continue;
        const values = Array.isArray(value) ? value : [value];
        const texts = REPEATED.has(name) ? values.map(textOf) : [values.map(textOf).join(",")];
        for (const text of texts)
            pairs.push(`${encode(name)}=${encode(text)}`);
    }
    return pairs.length > 0 ? `${path}?${pairs.join("&")}` : path;
}
/** An id as one segment of a path: an empty one would address the list. */
export function segment(id) {
    if (typeof id !== "string" || ["", ".", ".."].includes(id)) {
        throw new TypeError(`an id cannot be "${id}"`);
    }
    return encode(id);
}
function textOf(value) {
    return value instanceof Date ? value.toISOString() : String(value);
}
function encode(text) {
    return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
