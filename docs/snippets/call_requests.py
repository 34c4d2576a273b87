import base64, hashlib, hmac, os, sys, time

import requests

URL = os.environ["SEALDESK_API_URL"]
KEY = os.environ["SEALDESK_API_KEY"]
SECRET = os.environ["SEALDESK_API_SECRET"].encode()


class SealdeskAuth(requests.auth.AuthBase):
    """Signs the prepared request: the path and the bytes that are sent."""

    def __call__(self, request):
        body = request.body or b""
        sent = body.encode() if isinstance(body, str) else body
        timestamp = str(int(time.time()))
        body_hash = hashlib.sha256(sent).hexdigest()
        message = timestamp + request.method + request.path_url + body_hash
        message = message.encode()
        signature = hmac.digest(SECRET, message, "sha256").hex()
        shown = base64.b64encode(message).decode()
        request.headers["x-api-key"] = KEY
        request.headers["x-api-timestamp"] = timestamp
        request.headers["x-api-signature"] = signature
        request.headers["x-api-signed-message"] = shown
        return request


def call(method, target, body=""):
    """The response. target: path and query. body: JSON text."""
    return requests.request(
        method,
        URL + target,
        data=body.encode(),
        headers={"content-type": "application/json"},
        auth=SealdeskAuth(),
        allow_redirects=False,  # the signature is for this address alone
        timeout=60,
    )


answer = call(*sys.argv[1:] or ["GET", "/api/v1/external/whoami"])
if answer.status_code >= 300:
    sys.exit(answer.text)
print(answer.text)
