/** The API key, its secret and the URL of the service, checked before anything is sent. */
/** Throws InvalidConfiguration, which names the mistake. */
export declare function checkCredentials(apiKey: string, apiSecret: string): void;
/** The URL of a service without a trailing slash. Throws InvalidConfiguration. */
export declare function checkUrl(text: string): string;
