import type { Clock } from '../../ports/clock.ts';
import { parseJson } from '../../protocol/common/json.ts';
import {
  type ReadChange,
  type ReadSnapshot,
  readChangeSchema,
  readSnapshotSchema,
} from '../../protocol/screen-events.ts';
import { SILENT_MS } from '../../protocol/screen-link.ts';

const AGAIN_MS = 1500;
/** Maximum length of an event (characters): the agent's are much shorter, so a longer one is not from the agent. */
const MOST_CHARS = 1_000_000;

export interface PageListener {
  onSnapshot(snapshot: ReadSnapshot): void;
  onChange(change: ReadChange): void;
  onLost(): void;
}

/** Follows the events of the page at `url`, and connects again whenever they end. Returns a function that stops following. */
export function followPage(url: string, clock: Clock, listener: PageListener): () => void {
  const ended = new AbortController();
  let cancelAgain = (): void => {};
  const follow = async (): Promise<void> => {
    try {
      await readEvents(`${url}/events`, clock, listener, ended.signal);
    } catch {
      // The agent is down, or something else answered: in both cases the request is repeated.
    }
    if (ended.signal.aborted) return;
    listener.onLost();
    cancelAgain = clock.at(clock.now() + AGAIN_MS, () => void follow());
  };
  void follow();
  return () => {
    ended.abort();
    cancelAgain();
  };
}

async function readEvents(
  url: string,
  clock: Clock,
  listener: PageListener,
  ended: AbortSignal,
): Promise<void> {
  const silent = new AbortController();
  let cancel = (): void => {};
  const heard = (): void => {
    cancel();
    cancel = clock.at(clock.now() + SILENT_MS, () => silent.abort());
  };
  heard();
  try {
    const signal = AbortSignal.any([ended, silent.signal]);
    const { ok, body } = await fetch(url, { signal, redirect: 'error' });
    if (!ok || body === null) return;
    let rest = '';
    for await (const part of body.pipeThrough(new TextDecoderStream())) {
      heard();
      const events = (rest + part).split('\n\n');
      rest = events.pop() ?? '';
      if (rest.length > MOST_CHARS) return;
      for (const event of events) {
        // Events still in the buffer would reappear on a screen that has been cleared.
        if (ended.aborted) return;
        pass(event, listener);
      }
    }
  } finally {
    cancel();
    silent.abort();
  }
}

/** @throws if an event is not one of the page's */
function pass(event: string, { onSnapshot, onChange }: PageListener): void {
  const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, 'm').exec(event)?.[1] ?? '';
  const data = parseJson(field('data'));
  if (field('event') === 'snapshot') onSnapshot(readSnapshotSchema.parse(data));
  else if (field('event') === 'change') onChange(readChangeSchema.parse(data));
}
