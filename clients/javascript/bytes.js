/** Hex, Base64, SHA-256 and HMAC, with the Web Crypto API that every runtime has. */
const encoder = new TextEncoder();
export function utf8(text) {
    return encoder.encode(text);
}
export async function sha256Hex(bytes) {
    return hex(await crypto.subtle.digest("SHA-256", bytes));
}
/** A key for `hmac`. */
export function importKey(bytes) {
    return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [
        "sign",
        "verify",
    ]);
}
export async function hmacHex(key, message) {
    return hex(await crypto.subtle.sign("HMAC", key, utf8(message)));
}
/** The bytes of a text in standard Base64; undefined if it is not. */
export function fromBase64(text) {
    try {
        return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    }
    catch {
        return undefined;
    }
}
function hex(buffer) {
    let text = "";
    for (const byte of new Uint8Array(buffer))
        text += byte.toString(16).padStart(2, "0");
    return text;
}
