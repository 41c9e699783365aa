import { PHRASES, type PhraseBook } from './phrase-book.ts';

/** A speaker's place in the phrase book. */
export interface Bookmark {
  /** Number of the next phrase. */
  next: number;
  readonly book: PhraseBook;
}

/** Number of clients whose place is remembered. */
const MOST_CLIENTS = 1000;

/** Remembers each client's place, so that its next stream continues the conversation there. */
export interface Bookmarks {
  /** @param client null: a stream without a client, which begins at the first phrase */
  of(client: string | null): Bookmark;
}

/** @param first number of the phrase with which each client begins */
export function createBookmarks(first: number, book: PhraseBook = PHRASES): Bookmarks {
  const places = new Map<string, Bookmark>();
  return {
    of(client) {
      if (client === null) return { next: first, book };
      const bookmark = places.get(client) ?? { next: first, book };
      places.delete(client);
      places.set(client, bookmark);
      const oldest = places.keys().next().value;
      if (places.size > MOST_CLIENTS && oldest !== undefined) places.delete(oldest);
      return bookmark;
    },
  };
}
