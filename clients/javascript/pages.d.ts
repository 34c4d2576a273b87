/** Lists that are read page by page while they are iterated. */
/** nextCursor: of the next page, if there is one. resumeCursor: of events only. */
export interface Page<T> {
    data: T[];
    hasMore: boolean;
    nextCursor: string | undefined;
    resumeCursor: string | undefined;
}
/** All rows of a list, for `for await`. Each iteration begins with the first page. */
export declare class Pages<T> implements AsyncIterable<T> {
    private readonly read;
    private readonly begin?;
    constructor(read: (cursor: string | undefined) => Promise<Page<T>>, begin?: string | undefined);
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
    /** One page after the other. `list({…}, { cursor: page.nextCursor })` continues a list later. */
    pages(): AsyncGenerator<Page<T>, void, undefined>;
    /** The first row. */
    first(): Promise<T | undefined>;
}
/** The page in a response. */
export declare function readPage<T>(response: {
    data: T[];
    meta: {
        has_more?: boolean;
        next_cursor?: string | null;
        resume_cursor?: string | null;
    };
}): Page<T>;
