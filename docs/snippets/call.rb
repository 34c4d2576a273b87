require "net/http"
require "openssl"

BASE = URI(ENV.fetch("SEALDESK_API_URL"))
KEY = ENV.fetch("SEALDESK_API_KEY")
SECRET = ENV.fetch("SEALDESK_API_SECRET")

# The response. target: encoded path and query. body: JSON text.
def call(method, target, body = "")
  timestamp = Time.now.to_i.to_s
  body_hash = OpenSSL::Digest::SHA256.hexdigest(body)
  message = timestamp + method + target + body_hash
  headers = {
    "x-api-key" => KEY,
    "x-api-timestamp" => timestamp,
    "x-api-signature" => OpenSSL::HMAC.hexdigest("SHA256", SECRET, message),
    "x-api-signed-message" => [message].pack("m0"),
    "content-type" => "application/json"
  }
  sent = body.empty? ? nil : body
  secure = BASE.scheme == "https"
  Net::HTTP.start(BASE.host, BASE.port, use_ssl: secure) do |http|
    http.send_request(method, target, sent, headers)
  end
end

method, target, body = ARGV
answer = call(method || "GET", target || "/api/v1/external/whoami", body || "")
abort answer.body unless answer.is_a?(Net::HTTPSuccess)
puts answer.body
