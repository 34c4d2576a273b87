import base64, hashlib, hmac, os, sys, time
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
    message = message.encode()
    signature = hmac.digest(SECRET, message, "sha256").hex()
    shown = base64.b64encode(message).decode()
    request.add_header("x-api-key", KEY)
    request.add_header("x-api-timestamp", timestamp)
    request.add_header("x-api-signature", signature)
    request.add_header("x-api-signed-message", shown)
    request.add_header("content-type", "application/json")
    opener = urllib.request.build_opener(NoRedirects)
    with opener.open(request, timeout=60) as answer:
        return answer.read().decode()


try:
    print(call(*sys.argv[1:] or ["GET", "/api/v1/external/whoami"]))
except urllib.error.HTTPError as refusal:
    sys.exit(refusal.read().decode())
