/** What the client itself can say about a refusal: it knows what it sent. */

import type { Problem } from "./errors.js";

/**
 * A sentence for people, or nothing. url: of the request as it was sent. isTooFar: whether the
 * clock of this machine is too far from that of the service to be corrected.
 */
export function hintFor(problem: Problem, url: URL, method: string, isTooFar: boolean): string {
  if (problem.code === "timestamp_out_of_range" && isTooFar) {
    return (
      `The service says that it is ${problem["server_time"]} s since 1970. A difference of over 24` +
      " hours from the clock of this machine is not corrected: set the clock that is wrong."
    );
  }
  if (problem.code === "timestamp_out_of_range") {
    return "The clock of this machine is wrong: set it, for example with NTP.";
  }
  const prefix = url.pathname.split("/api/")[0];
  if (problem.code === "not_found" && prefix) {
    return `Does the URL of the service really have the path ${prefix.slice(0, 200)}?`;
  }
  if (problem.code !== "invalid_signature") return "";
  const received = problem["received"] as { method?: string; request_target?: string } | undefined;
  const target = url.pathname + url.search;
  for (const [name, sent, arrived] of [
    ["method", method, received?.method],
    ["request target", target, received?.request_target],
  ]) {
    if (arrived !== undefined && arrived !== sent) {
      return (
        `A proxy changes requests on their way: the ${name} was sent as ${sent}, and arrived as` +
        ` ${arrived}.`
      );
    }
  }
  return "The request arrived as it was sent, so this is probably not the secret of this key.";
}

/** What to look at when no response arrived. reason: the code or message of the failure. */
export function adviceFor(reason: string): string {
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(reason)) {
    return "the certificate of the service is not trusted here";
  }
  if (/SSL|packet length/.test(reason)) {
    return "the port does not speak TLS; does the URL need http:// instead of https://?";
  }
  if (/time-?out/i.test(reason)) return "the service did not respond in time";
  return "is the URL right, and is the service running there?";
}
