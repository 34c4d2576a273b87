import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Sealdesk {
    // target: encoded path and query. body: JSON text.
    static HttpResponse<String> call(String method, String target, String body)
            throws Exception {
        URI address = URI.create(System.getenv("SEALDESK_API_URL") + target);
        byte[] sent = body.getBytes(StandardCharsets.UTF_8);
        String timestamp = String.valueOf(Instant.now().getEpochSecond());
        String query = address.getRawQuery();
        String path = address.getRawPath() + (query == null ? "" : "?" + query);
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(sent);
        String text = timestamp + method + path + HexFormat.of().formatHex(hash);
        byte[] message = text.getBytes(StandardCharsets.UTF_8);
        byte[] secret = System.getenv("SEALDESK_API_SECRET").getBytes();
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        byte[] signature = mac.doFinal(message);
        String shown = Base64.getEncoder().encodeToString(message);
        HttpRequest request = HttpRequest.newBuilder(address)
                .timeout(Duration.ofMinutes(1))
                .header("x-api-key", System.getenv("SEALDESK_API_KEY"))
                .header("x-api-timestamp", timestamp)
                .header("x-api-signature", HexFormat.of().formatHex(signature))
                .header("x-api-signed-message", shown)
                .header("content-type", "application/json")
                .method(method, sent.length == 0
                        ? HttpRequest.BodyPublishers.noBody()
                        : HttpRequest.BodyPublishers.ofByteArray(sent))
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    public static void main(String[] given) throws Exception {
        String method = given.length > 0 ? given[0] : "GET";
        String target = given.length > 1 ? given[1] : "/api/v1/external/whoami";
        String body = given.length > 2 ? given[2] : "";
        HttpResponse<String> answer = call(method, target, body);
        if (answer.statusCode() >= 300) {
            System.err.println(answer.body());
            System.exit(1);
        }
        System.out.println(answer.body());
    }
}
