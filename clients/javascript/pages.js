/** Lists that are read page by page while they are iterated. */
/** All rows of a list, for `for await`. Each iteration begins with the first page. */
export class Pages {
    read;
    begin;
    constructor(read, begin) {
        this.read = read;
        this.begin = begin;
    }
    async *[Symbol.asyncIterator]() {
        for await (const page of this.pages())
            yield* page.data;
    }
    /** One page after the other. `list({…}, { cursor: page.nextCursor })` continues a list later. */
    async *pages() {
        let cursor = this.begin;
        do {
            const page = await this.read(cursor);
            yield page;
            cursor = page.hasMore ? page.nextCursor : undefined;
        } while (cursor !== undefined);
    }
    /** The first row. */
    async first() {
        for await (const row of this)
            return row;
        return undefined;
    }
}
/** The page in a response. */
export function readPage(response) {
    const { has_more, next_cursor, resume_cursor } = response.meta;
    return {
        data: response.data,
        hasMore: has_more ?? false,
        nextCursor: next_cursor ?? undefined,
        resumeCursor: resume_cursor ?? undefined,
    };
}
