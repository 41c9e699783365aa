import { signal } from '@preact/signals';
import type { ScreenSnapshot, ScreenText } from '../../protocol/screen.ts';

/** The page's state; null: no message received yet. */
export const screen = signal<ScreenSnapshot | null>(null);
/** Whether the agent answers. */
export const isConnected = signal(false);

/** Whether nothing has been said in this conversation. */
export const isEmpty = signal(true);

/** When the conversation ends if nobody acts (by `performance.now`); null: the end is not near. */
export const endsAt = signal<number | null>(null);

/** Names the present conversation. */
export const talkNow = (): string => `${screen.value?.run} ${screen.value?.conversation}`;

type Listener = (texts: readonly ScreenText[], how: 'new' | 'begin') => void;
const listeners = new Set<Listener>();

/** Calls back with new texts; `begin`: they replace all earlier texts. */
export function onTexts(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function tellTexts(texts: readonly ScreenText[], how: 'new' | 'begin'): void {
  if (how === 'begin' || texts.length > 0) isEmpty.value = texts.length === 0;
  for (const listener of listeners) listener(texts, how);
}
