/** Paths and queries, percent-encoded so that no runtime changes them before they are sent. */
export declare const ROOT = "/api/v1/external";
/** Path and query. Undefined and null are left out. */
export declare function targetOf(path: string, query?: Readonly<Record<string, unknown>>): string;
/** An id as one segment of a path: an empty one would address the list. */
export declare function segment(id: string): string;
/** Throws InvalidConfiguration for a name without a meaning, which would be left unread. */
export declare function checkNames(options: object, known: readonly string[]): void;
