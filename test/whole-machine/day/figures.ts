/** The messages of a device over a day, and the quality of its translations. */
import { z } from 'zod';
import { type Judgement, judge, RATE_HZ } from '../tones.ts';

const healthSchema = z.object({
  boot_id: z.string(),
  rss_bytes: z.number(),
  cpu_seconds: z.number(),
  reconnects: z.number(),
  outbox: z.object({ dropped: z.number() }),
  lanes: z.array(
    z.object({
      xruns: z.number(),
      underruns: z.number(),
      capture_restarts: z.number(),
      playback_restarts: z.number(),
      rollovers: z.number(),
      speech_lost_ms: z.number(),
      billed_s: z.number(),
    }),
  ),
});
export type Health = z.infer<typeof healthSchema>;

export interface DeviceMessages {
  readonly health: readonly Health[];
  /** Number of events by kind. */
  readonly events: Readonly<Record<string, number>>;
  /** Final status of each command. */
  readonly answers: readonly string[];
}

/** Reads the lines of the watcher; the last one may be incomplete. */
export function readMessages(lines: string): DeviceMessages {
  const messages = lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { readonly topic: string; readonly text: string });
  const events: Record<string, number> = {};
  for (const { topic } of messages) {
    const [, kind] = /^event\/(.+)$/.exec(topic) ?? [];
    if (kind !== undefined) events[kind] = (events[kind] ?? 0) + 1;
  }
  const of = (topic: string) =>
    messages.filter((message) => message.topic === topic).map(({ text }) => JSON.parse(text));
  return {
    health: of('health').map((text) => healthSchema.parse(text)),
    events,
    answers: of('cmd/volume/res')
      .map(({ status }) => String(status))
      .filter((status) => status !== 'accepted'),
  };
}

/** Judges the visits; each is a recording of this length. */
export function judgeVisits(heard: Buffer, visitS: number): Judgement[] {
  const bytes = visitS * RATE_HZ * 2;
  return Array.from({ length: Math.floor(heard.length / bytes) }, (_, place) => {
    const part = heard.subarray(place * bytes, (place + 1) * bytes);
    return judge(Int16Array.from({ length: bytes / 2 }, (_, at) => part.readInt16LE(2 * at)));
  });
}

/** Memory growth: median of the last fifth of the time minus median of the first fifth. */
export function growthBytes(health: readonly Health[]): number {
  const part = Math.max(1, Math.floor(health.length / 5));
  const median = (some: readonly Health[]): number =>
    some.map(({ rss_bytes }) => rss_bytes).sort((a, b) => a - b)[some.length >> 1] ?? 0;
  return median(health.slice(-part)) - median(health.slice(0, part));
}
