import base64, hashlib, hmac, os, sys, time

import httpx

URL = os.environ["SEALDESK_API_URL"]
KEY = os.environ["SEALDESK_API_KEY"]
SECRET = os.environ["SEALDESK_API_SECRET"].encode()


class SealdeskAuth(httpx.Auth):
    """Signs each request: the path and the bytes that are sent."""

    requires_request_body = True

    def auth_flow(self, request):
        timestamp = str(int(time.time()))
        target = request.url.raw_path.decode()
        body_hash = hashlib.sha256(request.content).hexdigest()
        message = timestamp + request.method + target + body_hash
        message = message.encode()
        signature = hmac.digest(SECRET, message, "sha256").hex()
        shown = base64.b64encode(message).decode()
        request.headers["x-api-key"] = KEY
        request.headers["x-api-timestamp"] = timestamp
        request.headers["x-api-signature"] = signature
        request.headers["x-api-signed-message"] = shown
        yield request


def call(method, target, body=""):
    """The response. target: path and query. body: JSON text."""
    with httpx.Client(auth=SealdeskAuth(), timeout=60) as client:
        return client.request(
            method,
            URL + target,
            content=body.encode(),
            headers={"content-type": "application/json"},
        )


answer = call(*sys.argv[1:] or ["GET", "/api/v1/external/whoami"])
if not answer.is_success:
    sys.exit(answer.text)
print(answer.text)
