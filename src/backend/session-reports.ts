/** Writes what devices report about their ended streams into the ledger. */
import { createHash } from 'node:crypto';
import type { BusMessage } from '../ports/bus.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { LedgerEntry, Store } from '../ports/store.ts';
import { parseJson } from '../protocol/json.ts';
import { EVENT_SCHEMAS } from '../protocol/mqtt/event.ts';
import { endedSender } from '../protocol/mqtt/topics.ts';
import type { Complain } from './limited-warnings.ts';
import { complainOfStore } from './mint-jobs.ts';

/** Longest report that is read (characters); a normal one has about 200. */
const LARGEST_REPORT_CHARS = 4096;
/** Reports that wait for a store that is down, and the interval of their tries (ms). Further ones stay with the broker. */
const MOST_WAITING = 10_000;
const AGAIN_MS = 2000;
/** Fields that newer agents may add do not matter here. */
const reportSchema = EVENT_SCHEMAS.session_ended.loose();

export interface SessionReports {
  /** True if the message is a report. It is acknowledged when it is in the ledger. */
  hear(message: BusMessage): boolean;
  /** Waits for reports that have arrived, unless the store is down. */
  close(): Promise<void>;
}

export function createSessionReports(
  store: Store,
  prefix: string,
  { complain, log, clock }: { complain: Complain; log: Log; clock: Clock },
): SessionReports {
  const underWay = new Set<Promise<void>>();
  const waiting = new Set<() => void>();
  let isClosing = false;

  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        cancel();
        waiting.delete(done);
        resolve();
      };
      const cancel = clock.at(clock.now() + AGAIN_MS, done);
      waiting.add(done);
    });

  /** @returns whether the line is in the ledger; if not, the broker still has the report */
  const append = async (entry: LedgerEntry): Promise<boolean> => {
    for (;;) {
      try {
        await store.append(entry);
        return true;
      } catch (error) {
        complainOfStore(error, complain, log);
      }
      if (isClosing || waiting.size >= MOST_WAITING) return false;
      // A broker delivers it again only on a new connection.
      await wait();
    }
  };

  const write = async (device: string, payload: string, acknowledge: () => void): Promise<void> => {
    const parsed = reportSchema.safeParse(parseJson(payload));
    if (!parsed.success) {
      const field = parsed.error.issues[0]?.path.join('.') || 'the whole';
      complain(`report ${device}`, { device, field }, 'a report of an ended session cannot be read');
      return acknowledge();
    }
    const { lane, session, live_ms: ms } = parsed.data;
    // The broker may deliver a report again, and to another backend.
    const id = createHash('sha256').update(`${device}\n${payload}`).digest('base64url');
    const entry = {
      id: `device/${id}`,
      device,
      lane,
      session,
      source: 'device',
      ms: Math.max(0, ms),
    } as const;
    if (await append(entry)) acknowledge();
  };
  return {
    hear(message) {
      const sender = endedSender(prefix, message.topic);
      if (sender === null) return false;
      if (message.retain || message.payload.length > LARGEST_REPORT_CHARS) return true;
      const acknowledge = message.hold?.() ?? (() => {});
      const work = write(`${sender.tenant}/${sender.device}`, message.payload, acknowledge);
      const done = work.finally(() => underWay.delete(done));
      underWay.add(done);
      return true;
    },
    async close() {
      isClosing = true;
      for (const done of [...waiting]) done();
      await Promise.all(underWay);
    },
  };
}
