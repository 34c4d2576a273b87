<?php
// The status and text of the response.
// $target: encoded path and query. $body: JSON text.
function call(string $method, string $target, string $body = ''): array
{
    $timestamp = (string) time();
    $message = $timestamp . $method . $target . hash('sha256', $body);
    $secret = getenv('SEALDESK_API_SECRET');
    $signature = hash_hmac('sha256', $message, $secret);
    $curl = curl_init(getenv('SEALDESK_API_URL') . $target);
    curl_setopt_array($curl, [
        CURLOPT_CUSTOMREQUEST => $method,
        CURLOPT_PATH_AS_IS => true,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 60,
        CURLOPT_HTTPHEADER => [
            'x-api-key: ' . getenv('SEALDESK_API_KEY'),
            'x-api-timestamp: ' . $timestamp,
            'x-api-signature: ' . $signature,
            'x-api-signed-message: ' . base64_encode($message),
            'content-type: application/json',
        ],
    ]);
    if ($body !== '') {
        curl_setopt($curl, CURLOPT_POSTFIELDS, $body);
    }
    $text = curl_exec($curl);
    if ($text === false) {
        throw new RuntimeException(curl_error($curl));
    }
    return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $text];
}

$arguments = array_slice($argv, 1) ?: ['GET', '/api/v1/external/whoami'];
[$status, $text] = call(...$arguments);
if ($status >= 300) {
    fwrite(STDERR, $text);
    exit(1);
}
echo $text, "\n";
