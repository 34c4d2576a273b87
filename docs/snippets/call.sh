METHOD=${1:-GET}
TARGET=${2:-/api/v1/external/whoami}
BODY=${3-}
TIMESTAMP=$(date +%s)
BODY_HASH=$(printf %s "$BODY" |
  openssl dgst -sha256 -r | cut -d' ' -f1)
MESSAGE=$TIMESTAMP$METHOD$TARGET$BODY_HASH
SIGNATURE=$(printf %s "$MESSAGE" |
  openssl dgst -sha256 -hmac "$SEALDESK_API_SECRET" -r |
  cut -d' ' -f1)
SHOWN=$(printf %s "$MESSAGE" | openssl base64 -A)

curl -sS --fail-with-body --globoff --path-as-is -w '\n' \
  -X "$METHOD" "$SEALDESK_API_URL$TARGET" \
  -H "x-api-key: $SEALDESK_API_KEY" \
  -H "x-api-timestamp: $TIMESTAMP" \
  -H "x-api-signature: $SIGNATURE" \
  -H "x-api-signed-message: $SHOWN" \
  -H 'content-type: application/json' \
  --data-binary "$BODY" || false
