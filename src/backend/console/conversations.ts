/** Writes the numbers of conversations into the store. Nothing that was said is in them. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { ConsoleStore, StoredConversation } from '../../ports/console-store.ts';
import { parseJson } from '../../protocol/json.ts';
import type { Complain } from '../limited-warnings.ts';
import { clean } from './clean.ts';

const count = z.number().min(0).max(1e9).catch(0);
const eventSchema = z.looseObject({
  ...{ duration_s: count, sentences: z.int().min(0).max(1e6).catch(0), billed_s: count },
  delay_ms: z.number().min(0).max(1e6).nullable().catch(null),
  languages: z.array(z.string()).catch([]),
});
const MOST_LANGUAGES = 20;
/** Kept until the store takes them. */
const MOST_WAITING = 20_000;

export interface ConversationNotes {
  hear(device: string, payload: string): void;
  /** Writes what has come. */
  write(): Promise<void>;
}

export function createConversationNotes(store: ConsoleStore, complain: Complain): ConversationNotes {
  let waiting: StoredConversation[] = [];
  return {
    hear(device, payload) {
      const parsed = eventSchema.safeParse(parseJson(payload));
      if (!parsed.success || waiting.length >= MOST_WAITING) return;
      const { duration_s, sentences, billed_s, delay_ms, languages } = parsed.data;
      waiting.push({
        // Several backends hear the same event.
        id: createHash('sha256').update(`${device}\n${payload}`).digest('base64url'),
        ...{ device, durationS: duration_s, sentences, delayMs: delay_ms, billedS: billed_s },
        languages: languages
          .slice(0, MOST_LANGUAGES)
          .map((language) => clean(language, 40).replaceAll(',', ' ')),
      });
    },
    async write() {
      if (waiting.length === 0) return;
      const due = waiting;
      waiting = [];
      try {
        await store.addConversations(due);
      } catch (error) {
        waiting = [...due, ...waiting].slice(0, MOST_WAITING);
        complain('conversations', { why: String(error) }, 'numbers of conversations cannot be written');
      }
    },
  };
}
