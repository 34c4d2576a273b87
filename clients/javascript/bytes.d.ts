/** Hex, Base64, SHA-256 and HMAC, with the Web Crypto API that every runtime has. */
/** Bytes that Web Crypto and fetch accept. */
export type Bytes = Uint8Array<ArrayBuffer>;
export declare function utf8(text: string): Bytes;
export declare function sha256Hex(bytes: Bytes): Promise<string>;
/** A key for `hmac`. */
export declare function importKey(bytes: Bytes): Promise<CryptoKey>;
export declare function hmacHex(key: CryptoKey, message: string): Promise<string>;
/** The bytes of a text in standard Base64; undefined if it is not. */
export declare function fromBase64(text: string): Bytes | undefined;
