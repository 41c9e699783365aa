/** What a program knows about its brokers' versions of MQTT, by address. All its connections share it. */
import * as z from 'zod';
import type { StateFile, StateFound } from '../../ports/state-file.ts';

/** The most addresses that are kept. A device has one broker, and rarely another one. */
const MOST_KEPT = 8;

const keptSchema = z.object({ version: z.literal(1), accepted5: z.array(z.string()) });

export interface VersionMemory {
  /** Whether the broker has ever accepted MQTT 5. */
  hasAccepted5(url: string): boolean;
  noteAccepted5(url: string): void;
  /** Until when the broker counts as one without MQTT 5 (monotonic milliseconds). */
  lacks5Until(url: string): number;
  noteLacks5(url: string, until: number): void;
}

/** @param file keeps the brokers that have accepted MQTT 5; null: they are forgotten when the program ends */
export function createVersionMemory(file: Pick<StateFile, 'read' | 'write'> | null = null): VersionMemory {
  const until = new Map<string, number>();
  let accepted: readonly string[] = [];
  /** Until the disk has answered, any broker may be one that has accepted MQTT 5. */
  let isRead = false;
  /** If this fails, the broker is learned again after the next start. */
  const save = (): void =>
    void file?.write(`${JSON.stringify({ version: 1, accepted5: accepted.slice(0, MOST_KEPT) })}\n`);
  const take = (found: StateFound): void => {
    isRead = true;
    const isNew = accepted.length > 0;
    if (found.kind === 'text') accepted = [...new Set([...accepted, ...parse(found.text)])];
    if (isNew) save();
  };
  const found = file?.read() ?? { kind: 'none' };
  if (found.kind === 'awaited') found.whenFound(take);
  else take(found);
  return {
    hasAccepted5: (url) => !isRead || accepted.includes(url),
    noteAccepted5(url) {
      until.delete(url);
      if (accepted.includes(url)) return;
      accepted = [url, ...accepted];
      if (isRead) save();
    },
    lacks5Until: (url) => until.get(url) ?? Number.NEGATIVE_INFINITY,
    noteLacks5: (url, at) => void until.set(url, at),
  };
}

function parse(text: string): readonly string[] {
  try {
    return keptSchema.safeParse(JSON.parse(text)).data?.accepted5 ?? [];
  } catch {
    return [];
  }
}
