import { PHRASES, type PhraseBook } from './phrase-book.ts';

/** A speaker's place in the phrase book. */
export interface Bookmark {
  /** Number of the next phrase. */
  next: number;
  readonly book: PhraseBook;
}

/** Clients whose place is remembered. */
const MOST_CLIENTS = 1000;

/** Remembers the place of each client, so that a conversation goes on in its next stream where it was. */
export interface Bookmarks {
  /** @param client null for a stream without a client: it begins at the beginning */
  of(client: string | null): Bookmark;
}

/** @param first number of the phrase with which everybody begins */
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
