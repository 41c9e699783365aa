import * as z from 'zod';
import { parseJson } from '../../protocol/common/json.ts';
import type { DeviceEvent } from '../../protocol/console-device.ts';
import { clean, cleanSentence, cleanTime } from './clean.ts';

/** Fields of an event, whatever the version of the device. */
const eventSchema = z.looseObject({
  ts: z.string().nullable().catch(null),
  lane: z.string().nullable().catch(null),
  message: z.string().nullable().catch(null),
});
const MOST_FIELDS = 16;

/** An event as the console shows it; null: invalid. */
export function readEvent(number: number, kind: string, payload: string): DeviceEvent | null {
  const parsed = eventSchema.safeParse(parseJson(payload));
  if (!parsed.success) return null;
  const { ts, lane, message, ...rest } = parsed.data;
  return {
    number,
    at: cleanTime(ts),
    kind: clean(kind, 60),
    lane: lane === null ? null : clean(lane, 64),
    message: message === null ? null : cleanSentence(message),
    fields: Object.fromEntries(
      Object.entries(rest)
        .slice(0, MOST_FIELDS)
        .flatMap(([name, value]) => fieldOf(clean(name, 40), value)),
    ),
  };
}

function fieldOf(name: string, value: unknown): [string, string | number | boolean | null][] {
  if (typeof value === 'string') return [[name, clean(value)]];
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return [[name, value]];
  if (!Array.isArray(value)) return [];
  const texts = value.filter((part) => typeof part === 'string' || typeof part === 'number');
  return [[name, clean(texts.join(', '))]];
}
