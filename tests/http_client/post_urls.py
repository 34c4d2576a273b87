"""`python -m tests.http_client.post_urls COUNT`: posts inside the network namespace.

Half of the posts have a new host name each; the others repeat a few names, each of which is
resolved again for every post while its connections stay open.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator

import uvloop

from sealdesk.http_client import HttpClient, RequestFailed, resolver
from tests.http_client.url_corpus import CORPUS

_KINDS = ("flip", "flop", "mixed", "cname", "six")
_PATHS = ("/", "/moved", "/last")
_AT_ONCE = 8


async def main(count: int) -> None:
    resolver.CACHE_S = 0.0  # every post resolves its name
    new = [f"http://{_KINDS[n % 5]}-{n}.test{_PATHS[n % 3]}" for n in range(count // 2)]
    again = [
        f"http://{_KINDS[n % 5]}-{100_000 + n % 15}.test{_PATHS[n % 3]}" for n in range(count // 2)
    ]
    forbidden = [
        url.replace("https:", "http:") if verdict == "url_forbidden" else url
        for url, verdict in CORPUS
        if verdict != "sent" and not url.startswith("http:")
    ]
    counted: Counter[str] = Counter()
    urls = iter([*new, *again, *forbidden])
    sender = HttpClient((), allow_http=True)
    await asyncio.gather(*(_post_each(sender, urls, counted) for _ in range(_AT_ONCE)))
    await sender.close()
    print(json.dumps(counted))  # noqa: T201


async def _post_each(sender: HttpClient, urls: Iterator[str], counted: Counter[str]) -> None:
    for url in urls:
        try:
            await sender.post(url, {"webhook-id": "evt"}, b"{}")
        except RequestFailed as error:
            is_guard = error.cause in ("url_forbidden", "url_invalid")
            counted["refused" if is_guard else f"{url}: {error.text}"] += 1
        else:
            counted["sent"] += 1


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
