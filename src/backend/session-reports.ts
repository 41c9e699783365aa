/** Writes what devices report about their ended streams into the ledger. */
import { createHash } from 'node:crypto';
import type { BusMessage } from '../ports/bus.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { parseJson } from '../protocol/json.ts';
import { EVENT_SCHEMAS } from '../protocol/mqtt/event.ts';
import { endedSender } from '../protocol/mqtt/topics.ts';
import type { Complain } from './limited-warnings.ts';
import { complainOfStore } from './mint-jobs.ts';

/** Longest report that is read (characters); a normal one has about 200. */
const LARGEST_REPORT_CHARS = 4096;
/** Fields that newer agents may add do not matter here. */
const reportSchema = EVENT_SCHEMAS.session_ended.loose();

export interface SessionReports {
  /** True if the message is a report. It is acknowledged when it is in the ledger. */
  hear(message: BusMessage): boolean;
  /** Waits for reports that have arrived. */
  close(): Promise<void>;
}

export function createSessionReports(
  store: Store,
  prefix: string,
  { complain, log }: { complain: Complain; log: Log },
): SessionReports {
  const underWay = new Set<Promise<void>>();
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
    try {
      await store.append({
        id: `device/${id}`,
        device,
        lane,
        session,
        source: 'device',
        ms: Math.max(0, ms),
      });
      acknowledge();
    } catch (error) {
      // Not acknowledged: the broker delivers it again.
      complainOfStore(error, complain, log);
    }
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
      await Promise.all(underWay);
    },
  };
}
