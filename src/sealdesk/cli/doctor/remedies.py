"""Settings of proxies that stop them from altering signed requests."""

from collections.abc import Iterable

from sealdesk.cli.doctor.diagnosis import Alteration

# Start of the Server header → proxy. HAProxy adds no Server header; Varnish is known by X-Varnish.
_PROXIES = {
    "nginx": "nginx",
    "openresty": "nginx",
    "apache": "Apache",
    "cloudflare": "Cloudflare",
    "varnish": "Varnish",
}

_REMEDIES: dict[Alteration, dict[str, str]] = {
    "path": {
        "nginx": "proxy_pass without a path, even / (proxy_pass http://sealdesk;), and without"
        " $uri; no rewrite in that location",
        "HAProxy": "no http-request normalize-uri, set-path, replace-path or set-uri, no url_dec",
        "Apache": "AllowEncodedSlashes NoDecode, MergeSlashes Off, and ProxyPass with nocanon",
        "Cloudflare": "turn off the normalisation of URLs to the origin",
        "any": "set SEALDESK_EXTERNAL_PATH_PREFIX to a path prefix that the proxy removes",
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
        "any": "no proxy may change the method",
    },
    "body": {
        "nginx": "no proxy_set_body, proxy_pass_request_body on",
        "any": "no filter or firewall may rewrite, decompress or drop bodies",
    },
    "headers": {
        "nginx": "proxy_pass_request_headers on, no proxy_set_header X-API-…",
        "HAProxy": "no http-request del-header or replace-header X-API-…",
        "any": "X-API-Key, X-API-Timestamp and X-API-Signature must pass unchanged",
    },
    "redirect": {
        "any": "no redirects under /api: use the final URL, with https and the right host, and"
        " remove redirects that add or remove slashes"
    },
    "refused": {
        "Apache": "AllowEncodedSlashes NoDecode, and ProxyPass with nocanon",
        "any": "a proxy rule or a firewall refuses a request that HTTP allows; remove the rule",
    },
    "too_large": {
        "nginx": "client_max_body_size 2m and large_client_header_buffers 4 20k, so that the"
        " limits of the service apply",
        "HAProxy": "tune.bufsize 32768",
        "any": "bodies of 1 MiB and headers of 16 KiB must pass",
    },
    "unreachable": {
        "any": "no service responds behind the proxy: check the proxy's backend addresses"
    },
    "certificate": {
        "any": "renew the proxy's certificate, for this name and with its whole chain, and reload"
        " the proxy: every client refuses it as it is"
    },
    "clock": {"any": "synchronise the clocks of both machines by NTP"},
    "key": {"any": "set SEALDESK_API_KEY and SEALDESK_API_SECRET to a key of this installation"},
    "answer": {
        "nginx": "no proxy_hide_header, no proxy_intercept_errors",
        "HAProxy": "no http-response del-header",
        "any": "responses must return with their status and headers",
    },
    "cache": {
        "nginx": "no proxy_cache outside /assets/ and /docs/, and never proxy_ignore_headers"
        " Cache-Control or Vary",
        "HAProxy": "no http-request cache-use outside /assets/ and /docs/",
        "Varnish": 'if (req.url !~ "^/(assets|docs)/") { return (pass); } in vcl_recv',
        "Cloudflare": 'no "Cache everything", no edge TTL of your own; bypass the cache for /api',
        "any": "a cache must not store responses whose Cache-Control is private, nor change that"
        " header",
    },
}


def remedy_for(alteration: Alteration, servers: Iterable[str]) -> str:
    """Return the remedies for the proxies in use. servers: the Server headers of responses."""
    remedies = _REMEDIES[alteration]
    named = {proxy for server in servers for proxy in _named(server)}
    known = [proxy for proxy in remedies if proxy in named]
    shown = [*known, "any"] if known else list(remedies)
    return "; ".join(
        text if proxy == "any" else f"{proxy}: {text}"
        for proxy, text in remedies.items()
        if proxy in shown
    )


def _named(server: str) -> list[str]:
    return [proxy for start, proxy in _PROXIES.items() if server.lower().startswith(start)]
