/** Lists that are read page by page while they are iterated. */

/** nextCursor: of the next page, if there is one. resumeCursor: of events only. */
export interface Page<T> {
  data: T[];
  hasMore: boolean;
  nextCursor: string | undefined;
  resumeCursor: string | undefined;
}

/** All rows of a list, for `for await`. Each iteration begins with the first page. */
export class Pages<T> implements AsyncIterable<T> {
  constructor(
    private readonly read: (cursor: string | undefined) => Promise<Page<T>>,
    private readonly begin?: string,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** One page after the other. `list({…}, { cursor: page.nextCursor })` continues a list later. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let cursor = this.begin;
    do {
      const page = await this.read(cursor);
      yield page;
      cursor = page.hasMore ? page.nextCursor : undefined;
    } while (cursor !== undefined);
  }

  /** The first row. */
  async first(): Promise<T | undefined> {
    for await (const row of this) return row;
    return undefined;
  }
}

/** The page in a response. */
export function readPage<T>(response: {
  data: T[];
  meta: { has_more?: boolean; next_cursor?: string | null; resume_cursor?: string | null };
}): Page<T> {
  const { has_more, next_cursor, resume_cursor } = response.meta;
  return {
    data: response.data,
    hasMore: has_more ?? false,
    nextCursor: next_cursor ?? undefined,
    resumeCursor: resume_cursor ?? undefined,
  };
}
