"""What to do about a proxy that changes signed requests."""

from collections.abc import Iterable

from sealdesk.cli.doctor.diagnosis import Alteration

# What the Server header of answers begins with, and whose it is. HAProxy adds none.
_PROXIES = {"nginx": "nginx", "openresty": "nginx", "apache": "Apache", "cloudflare": "Cloudflare"}

_MENDS: dict[Alteration, dict[str, str]] = {
    "path": {
        "nginx": "proxy_pass names no path, not even / (proxy_pass http://sealdesk;), nor $uri; no"
        " rewrite in that location",
        "HAProxy": "no http-request normalize-uri, set-path, replace-path or set-uri, no url_dec",
        "Apache": "AllowEncodedSlashes NoDecode, MergeSlashes Off, and ProxyPass with nocanon",
        "Cloudflare": "turn off normalisation of URLs to the origin",
        "any": "a prefix that the proxy takes away is named by SEALDESK_EXTERNAL_PATH_PREFIX",
    },
    "query": {
        "nginx": "no rewrite, no $args of your own in proxy_pass",
        "HAProxy": "no http-request normalize-uri, set-query or set-uri",
        "Apache": "no RewriteRule without NE, and ProxyPass with nocanon",
        "Cloudflare": "no transform rule for the query, no query sorting",
    },
    "method": {
        "nginx": "no proxy_method; with a cache, proxy_cache_convert_head off",
        "HAProxy": "no http-request set-method",
        "any": "what stands in between must leave the method alone",
    },
    "body": {
        "nginx": "no proxy_set_body, proxy_pass_request_body on",
        "any": "no filter or firewall may rewrite, decompress or drop bodies",
    },
    "headers": {
        "nginx": "proxy_pass_request_headers on, no proxy_set_header X-API-…",
        "HAProxy": "no http-request del-header or replace-header X-API-…",
        "any": "X-API-Key, X-API-Timestamp and X-API-Signature must pass as they are",
    },
    "redirect": {
        "any": "nothing under /api may be redirected: name the final address, with https and the"
        " right host, and take redirects of slashes away",
    },
    "refused": {
        "Apache": "AllowEncodedSlashes NoDecode, and ProxyPass with nocanon",
        "any": "a rule or a firewall in between refuses what HTTP allows; it must let it pass",
    },
    "too_large": {
        "nginx": "client_max_body_size 2m and large_client_header_buffers 4 20k, so that the"
        " service's own limits count",
        "HAProxy": "tune.bufsize 32768",
        "any": "bodies of 1 MiB and 16 KiB of headers must pass",
    },
    "unreachable": {"any": "no service answers behind the proxy: are its addresses right?"},
    "clock": {"any": "set the clocks of both machines by NTP"},
    "key": {"any": "SEALDESK_API_KEY and SEALDESK_API_SECRET must be a key of this installation"},
    "answer": {
        "nginx": "no proxy_hide_header, no proxy_intercept_errors, no proxy_cache under /api",
        "HAProxy": "no http-response del-header, no cache under /api",
        "any": "answers must come back with their status and headers, and never out of a cache",
    },
}


def mend_for(harm: Alteration, servers: Iterable[str]) -> str:
    """What would be right. servers: the Server headers that answers carried."""
    mends = _MENDS[harm]
    named = {proxy for server in servers for proxy in _named(server)}
    known = [proxy for proxy in mends if proxy in named]
    shown = [*known, "any"] if known else list(mends)
    return "; ".join(
        text if proxy == "any" else f"{proxy}: {text}"
        for proxy, text in mends.items()
        if proxy in shown
    )


def _named(server: str) -> list[str]:
    return [proxy for start, proxy in _PROXIES.items() if server.lower().startswith(start)]
