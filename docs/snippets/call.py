import hashlib, hmac, json, os, sys, time
import urllib.error, urllib.request

URL = os.environ["SEALDESK_API_URL"]
KEY = os.environ["SEALDESK_API_KEY"]
SECRET = os.environ["SEALDESK_API_SECRET"].encode()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # the signature is for this address alone


def call(method, target, body=""):
    """The response. target: encoded path and query. body: JSON text."""
    sent = body.encode()
    request = urllib.request.Request(
        URL + target, sent or None, method=method
    )
    timestamp = str(int(time.time()))
    body_hash = hashlib.sha256(sent).hexdigest()
    message = timestamp + method + request.selector + body_hash
    signature = hmac.digest(SECRET, message.encode(), "sha256").hex()
    request.add_header("x-api-key", KEY)
    request.add_header("x-api-timestamp", timestamp)
    request.add_header("x-api-signature", signature)
    request.add_header("content-type", "application/json")
    opener = urllib.request.build_opener(NoRedirects)
    with opener.open(request, timeout=60) as answer:
        return answer.read().decode()


try:
    print(call(*sys.argv[1:] or ["GET", "/api/v1/external/whoami"]))
except urllib.error.HTTPError as refusal:
    problem = json.load(refusal)
    diagnosis = problem.get("diagnosis", "none")
    sys.exit(f"{problem['detail']}\ndiagnosis: {diagnosis}")
