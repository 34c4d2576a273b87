/** A fetch that plays responses, and the requests that it was given. */

import { Desk } from "../dist/index.js";

export const KEY = `tk_live_${"ab".repeat(20)}`;
export const SECRET = "cd".repeat(32);
export const NOW_MS = 1_767_225_600_000;

/** A desk whose service gives these answers in turn: a Response, an Error or a function. */
export function deskWith(answers, options = {}) {
  const requests = [];
  const pauses = [];
  const warnings = [];
  const desk = new Desk({
    apiKey: KEY,
    apiSecret: SECRET,
    baseUrl: "https://desk.example.com",
    fetch: async (url, init) => {
      requests.push({
        url: String(url),
        method: init.method,
        redirect: init.redirect,
        headers: Object.fromEntries(init.headers),
        body: init.body === undefined ? "" : new TextDecoder().decode(init.body),
      });
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return typeof answer === "function" ? answer(url, init) : answer;
    },
    sleep: async (seconds) => void pauses.push(seconds),
    random: () => 0.5,
    now: () => NOW_MS,
    warn: (text) => warnings.push(text),
    ...options,
  });
  return { desk, requests, pauses, warnings };
}

export function json(body, { status = 200, headers = {} } = {}) {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

export function problem(status, code, members = {}, headers = {}) {
  return json({ status, code, detail: `about ${code}`, ...members }, { status, headers });
}

/** A failure of fetch as Node throws it. */
export function failure(code) {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
}
