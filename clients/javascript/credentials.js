/** The API key, its secret and the URL of the service, checked before anything is sent. */
import { InvalidConfiguration } from "./errors.js";
const KEY = /^tk_[a-z]{1,16}_[0-9a-f]{40}$/;
const SECRET = /^[0-9a-f]{64}$/;
const QUOTES = "\"'`\u201c\u201d\u2018\u2019";
const API_PATHS = ["/api/v1/external", "/api/v1", "/api"];
/** Throws InvalidConfiguration, which names the mistake. */
export function checkCredentials(apiKey, apiSecret) {
    const inKey = mistakeInKey(apiKey);
    if (inKey) {
        throw new InvalidConfiguration(`apiKey ${inKey} (it must be tk_live_ or tk_test_ and 40 hex characters)`);
    }
    const inSecret = mistakeInSecret(apiSecret);
    if (inSecret) {
        throw new InvalidConfiguration(`apiSecret ${inSecret} (it must be 64 hex characters)`);
    }
}
/** The URL of a service without a trailing slash. Throws InvalidConfiguration. */
export function checkUrl(text) {
    let url;
    try {
        url = new URL(text);
    }
    catch {
        throw new InvalidConfiguration(`baseUrl must be a URL such as https://desk.example.com`);
    }
    if (url.protocol !== "http:" && url.protocol !== "https:") {
        throw new InvalidConfiguration(`baseUrl must begin with https:// or http://`);
    }
    if (url.username || url.password || url.search || url.hash) {
        throw new InvalidConfiguration(`baseUrl must have no user name, query or fragment`);
    }
    const bare = url.origin + url.pathname.replace(/\/+$/, "");
    for (const path of API_PATHS) {
        if (bare.endsWith(path)) {
            throw new InvalidConfiguration(`baseUrl must end before ${path}: use ${bare.slice(0, -path.length)}`);
        }
    }
    return bare;
}
function mistakeInKey(text) {
    if (!text)
        return "is not set";
    if (KEY.test(text))
        return "";
    if (SECRET.test(text.trim()))
        return "holds the secret; the two are swapped";
    if (text.trim().endsWith("…") || /^tk_[a-z]+_[0-9a-f]{8}$/.test(text.trim())) {
        return "is only the visible part that lists show, not the whole key";
    }
    return mistakeOfCopying(text) || wrongLength(text, 48) || "is malformed";
}
function mistakeInSecret(text) {
    if (!text)
        return "is not set";
    if (SECRET.test(text))
        return "";
    if (text.trim().startsWith("tk_")) {
        return "holds the API key; the secret is shown beside it when it is created or rotated";
    }
    if (text.trim().startsWith("whsec_")) {
        return "holds the secret of a webhook endpoint, which signs webhooks only";
    }
    return mistakeOfCopying(text) || wrongLength(text, 64) || "is malformed";
}
function mistakeOfCopying(text) {
    if (text !== text.trim())
        return "has a space or line break at its start or end; remove it";
    if (/\s/.test(text))
        return "has a space or line break in it; remove it";
    if (QUOTES.includes(text.charAt(0)) || QUOTES.includes(text.charAt(text.length - 1))) {
        return "is in quotes; remove them";
    }
    return text !== text.toLowerCase() ? "is in upper case; use it as it was shown" : "";
}
function wrongLength(text, length) {
    if (text.length === length)
        return "";
    return `has ${text.length} characters instead of ${length}; was it cut off?`;
}
