/**
 * Writes what devices report about ended streams and conversations into the store. A separate connection keeps
 * reports from delaying token requests.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Rate } from '../../core/retry/rate.ts';
import { limitDevices } from '../../machine/limit-devices.ts';
import type { Complain } from '../../machine/limited-warnings.ts';
import type { Bus, BusMessage, OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore, StoredConversation } from '../../ports/console-store.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { milliseconds, seconds, wholeCount } from '../../protocol/mqtt/bounds.ts';
import { EVENT_SCHEMAS } from '../../protocol/mqtt/event.ts';
import type { EndedStream } from '../../protocol/mqtt/token.ts';
import { type ReportKind, reportFilter, reportSender } from '../../protocol/mqtt/topics.ts';
import { mostConversations } from '../bill/plausible.ts';
import { clean } from '../fleet/clean.ts';
import { OddReports } from './odd-reports.ts';
import { ReportQueue, type WaitingReport } from './report-queue.ts';

/** Largest report that is read (bytes); a normal one has about 200. */
const LARGEST_REPORT_BYTES = 4096;
/** Maximum number of reports that wait for the store. Further ones stay at the broker. */
const MOST_WAITING = 10_000;
/** Limit on reports per device. After an outage of the broker a device sends all that it has kept. */
const PER_DEVICE: Rate = { burst: 120, perMinute: 30 };
/** Limit on requests per device whose ended streams are recorded. */
const REPEATED: Rate = { burst: 6, perMinute: 6 };
/**
 * While more than this many reports are waiting, the ended streams listed in token requests are ignored; the device will send
 * them again.
 */
const MOST_BEFORE_REPEATED = 1000;

const MOST_LANGUAGES = 20;
/** Newer agents may add fields. */
const endSchema = EVENT_SCHEMAS.session_ended.loose();
/** An invalid field does not invalidate the others. */
const conversationSchema = z.looseObject({
  duration_s: seconds.catch(0),
  sentences: wholeCount.catch(0),
  billed_s: seconds.catch(0),
  delay_ms: milliseconds.nullable().catch(null),
  languages: z.array(z.string()).catch([]),
});

export interface DeviceReportsParts {
  readonly openBus: OpenBus;
  readonly prefix: string;
  readonly store: Pick<Store, 'report' | 'addImplausible' | 'recentStreams'>;
  /** Null: there is no console that shows conversations. */
  readonly conversations: Pick<ConsoleStore, 'addConversation'> | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
}

export class DeviceReports {
  private readonly parts: DeviceReportsParts;
  private readonly odd: OddReports;
  private readonly queue: ReportQueue;
  private readonly isFlood: (device: string) => boolean;
  private readonly repeatsTooOften: (device: string) => boolean;
  private bus: Bus | null = null;
  /** Group of the shared subscription; undefined: `listen` was not called yet. */
  private group: string | null | undefined;
  private isClosing = false;

  constructor(parts: DeviceReportsParts) {
    const { store, clock, log, complain } = parts;
    this.parts = parts;
    this.odd = new OddReports({ store, clock, log, complain });
    this.queue = new ReportQueue({ odd: this.odd, clock, log, complain });
    this.isFlood = limitDevices(clock, PER_DEVICE);
    this.repeatsTooOften = limitDevices(clock, REPEATED);
  }

  /** Begins to receive reports. @param shareGroup null: the broker has no shared subscriptions */
  listen(shareGroup: string | null): void {
    if (this.isClosing || shareGroup === this.group) return;
    this.group = shareGroup;
    const last = this.bus;
    this.bus = this.openBus(shareGroup);
    void last?.close();
  }

  /**
   * Records the ended streams that a device reports again with a token request.
   * @param confirm called when each is in the ledger or refused as implausible; never if the device has to repeat them
   */
  repeat(device: string, ended: readonly EndedStream[], confirm: () => void): void {
    if (this.isClosing || this.repeatsTooOften(device) || this.queue.length > MOST_BEFORE_REPEATED) return;
    let left = ended.length;
    const acknowledge = (): void => {
      left -= 1;
      if (left === 0) confirm();
    };
    for (const { lane, session, live_ms: ms } of ended) {
      const write = () => this.parts.store.report({ device, lane, session, ms });
      this.queue.add({ device, kind: 'session_ended', isRepeated: true, write, acknowledge });
    }
  }

  /** Writes the reports that have arrived, unless the store is down. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.bus?.unsubscribe?.();
    await this.queue.close();
    await this.odd.close();
    await this.bus?.close();
  }

  private openBus(shareGroup: string | null): Bus {
    const { openBus, prefix, conversations, log, complain } = this.parts;
    const kinds: readonly ReportKind[] =
      conversations === null ? ['session_ended'] : ['session_ended', 'conversation_ended'];
    return openBus(
      {
        subscriptions: kinds.map((kind) => ({
          filter: reportFilter(prefix, kind, shareGroup),
          qos: 1,
          mayBeRefused: true,
        })),
        will: null,
        largestBytes: LARGEST_REPORT_BYTES,
      },
      {
        refused(filters) {
          const sentence =
            'the broker does not allow this backend to receive reports of ended sessions and conversations: the bill or the console lacks them';
          if (filters.length > 0) log.warn({ filters }, sentence);
        },
        up: (connection, protocol) => log.debug({ connection, protocol }, 'receiving reports of devices'),
        down: (problem, why) => complain(`reports ${why}`, { problem }, why),
        message: (message) => this.hear(message),
        oversized: (topic) => {
          const sender = reportSender(prefix, topic);
          if (sender !== null) this.odd.add(sender.device, sender.kind, 'it is too long');
        },
      },
    );
  }

  private hear(message: BusMessage): void {
    const sender = reportSender(this.parts.prefix, message.topic);
    if (sender === null || message.retain) return;
    const { device, kind } = sender;
    if (this.isFlood(device)) return this.odd.add(device, kind, 'there are too many of them');
    const write = readReport(device, kind, message.payload, this.parts);
    if (typeof write === 'string') return this.odd.add(device, kind, write);
    const acknowledge = message.hold?.() ?? (() => {});
    if (this.queue.length >= MOST_WAITING) return;
    this.queue.add({ device, kind, isRepeated: false, write, acknowledge });
  }
}

/** A function that writes the report, or a text: why it is not written. */
function readReport(
  device: string,
  kind: ReportKind,
  payload: string,
  { store, conversations }: Pick<DeviceReportsParts, 'store' | 'conversations'>,
): WaitingReport['write'] | string {
  if (kind === 'session_ended') {
    const parsed = endSchema.safeParse(parseJson(payload));
    if (!parsed.success) return `it cannot be read: ${parsed.error.issues[0]?.path.join('.') || 'the whole'}`;
    const { lane, session, live_ms: ms } = parsed.data;
    return () => store.report({ device, lane, session, ms });
  }
  const conversation = readConversation(device, payload);
  if (conversation === null || conversations === null) return 'it cannot be read';
  return async () => {
    const most = mostConversations(await store.recentStreams(device));
    return conversations.addConversation(conversation, most);
  };
}

function readConversation(device: string, payload: string): StoredConversation | null {
  const parsed = conversationSchema.safeParse(parseJson(payload));
  if (!parsed.success) return null;
  const { duration_s, sentences, billed_s, delay_ms, languages } = parsed.data;
  return {
    // A redelivered report gets the same id, even on another backend.
    id: createHash('sha256').update(`${device}\n${payload}`).digest('base64url'),
    device,
    durationS: duration_s,
    sentences,
    delayMs: delay_ms,
    billedS: billed_s,
    languages: languages.slice(0, MOST_LANGUAGES).map((language) => clean(language, 40).replaceAll(',', ' ')),
  };
}
