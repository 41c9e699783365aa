/**
 * Writes what devices report about ended streams and conversations into the store. It has a connection of its own, so that token
 * requests never stand behind reports.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Rate } from '../../core/retry/rate.ts';
import type { Bus, BusMessage, OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import type { Log } from '../../ports/log.ts';
import { type ReportOutcome, type Store, StoreDown, StoreRefused } from '../../ports/store.ts';
import { parseJson } from '../../protocol/json.ts';
import { milliseconds, seconds, wholeCount } from '../../protocol/mqtt/bounds.ts';
import { EVENT_SCHEMAS } from '../../protocol/mqtt/event.ts';
import type { EndedStream } from '../../protocol/mqtt/token.ts';
import { type ReportKind, reportFilter, reportSender } from '../../protocol/mqtt/topics.ts';
import { clean } from '../console/clean.ts';
import { mostConversations } from '../core/plausible.ts';
import { complainOfStore } from '../issuing/mint-jobs.ts';
import { limitDevices } from '../limit-devices.ts';
import type { Complain } from '../limited-warnings.ts';

/** Largest report that is read (bytes); a normal one has about 200. */
const LARGEST_REPORT_BYTES = 4096;
/** Reports that wait for the store, and the interval of tries while it is down (ms). Further ones stay with the broker. */
const MOST_WAITING = 10_000;
const AGAIN_MS = 2000;
/** Reports of one device. After an outage of the broker it sends all that it has kept. */
const PER_DEVICE: Rate = { burst: 120, perMinute: 30 };
/** Requests of one device whose ends are written. */
const REPEATED: Rate = { burst: 6, perMinute: 6 };
/** Ends from requests are left out while more reports wait: the device repeats them. */
const MOST_BEFORE_REPEATED = 1000;
const MOST_DEVICES = 20_000;
/** Interval between two writes of the numbers of implausible reports (ms). */
const COUNTED_EACH_MS = 5000;

const MOST_LANGUAGES = 20;
/** Newer agents may add fields. */
const endSchema = EVENT_SCHEMAS.session_ended.loose();
/** A field that cannot be read does not spoil the others. */
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

export interface DeviceReports {
  /** Begins to receive reports. @param shareGroup null: the broker has no shared subscriptions */
  listen(shareGroup: string | null): void;
  /**
   * Writes the ends that a device reports again with a token request.
   * @param confirm called when all are in the ledger, or cannot be true; not at all if the device has to repeat them
   */
  repeat(device: string, ended: readonly EndedStream[], confirm: () => void): void;
  /** Writes the reports that have arrived, unless the store is down. */
  close(): Promise<void>;
}

interface Waiting {
  readonly device: string;
  readonly kind: ReportKind;
  /** The device repeats it, and the broker does not have it. */
  readonly isRepeated: boolean;
  readonly write: () => Promise<ReportOutcome>;
  readonly acknowledge: () => void;
}

export function createDeviceReports(parts: DeviceReportsParts): DeviceReports {
  const { openBus, prefix, store, conversations, clock, log, complain } = parts;
  const isFlood = limitDevices(clock, PER_DEVICE);
  const repeatsTooOften = limitDevices(clock, REPEATED);
  const odd = createOddReports(parts);
  const queue: Waiting[] = [];
  let running: Promise<void> | null = null;
  let endWait = (): void => {};
  let isClosing = false;
  let bus: Bus | null = null;
  let group: string | null | undefined;

  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.at(clock.now() + AGAIN_MS, resolve);
      endWait = () => {
        cancel();
        resolve();
      };
    });

  /** One after the other, so that reports take one connection of the store at most. */
  const writeAll = async (): Promise<void> => {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const { device, kind, isRepeated, write, acknowledge } = next;
      try {
        if ((await write()) === 'implausible') odd.add(device, kind, 'it cannot be true');
      } catch (error) {
        complainOfStore(error, complain, log);
        if (error instanceof StoreDown || error instanceof StoreRefused) {
          if (isRepeated) {
            queue.shift();
            continue;
          }
          // The broker still has the report.
          if (isClosing) return;
          await wait();
          continue;
        }
        // It would fail again and again, and no other report would be written.
        odd.add(device, kind, 'the store does not take it');
      }
      acknowledge();
      queue.shift();
    }
  };
  const run = (): void => {
    running ??= writeAll().finally(() => {
      running = null;
    });
  };

  /** The rows to write; a text: why there are none. */
  const read = (device: string, kind: ReportKind, payload: string): Waiting['write'] | string => {
    if (kind === 'session_ended') {
      const parsed = endSchema.safeParse(parseJson(payload));
      if (!parsed.success)
        return `it cannot be read: ${parsed.error.issues[0]?.path.join('.') || 'the whole'}`;
      const { lane, session, live_ms: ms } = parsed.data;
      return () => store.report({ device, lane, session, ms });
    }
    const parsed = conversationSchema.safeParse(parseJson(payload));
    if (!parsed.success || conversations === null) return 'it cannot be read';
    const { duration_s, sentences, billed_s, delay_ms, languages } = parsed.data;
    const one = {
      // The broker may deliver it again, and to another backend.
      id: createHash('sha256').update(`${device}\n${payload}`).digest('base64url'),
      device,
      durationS: duration_s,
      sentences,
      delayMs: delay_ms,
      billedS: billed_s,
      languages: languages
        .slice(0, MOST_LANGUAGES)
        .map((language) => clean(language, 40).replaceAll(',', ' ')),
    };
    return async () => {
      const most = mostConversations(await store.recentStreams(device));
      return conversations.addConversation(one, most);
    };
  };

  const hear = (message: BusMessage): void => {
    const sender = reportSender(prefix, message.topic);
    if (sender === null || message.retain) return;
    const { device, kind } = sender;
    if (isFlood(device)) return odd.add(device, kind, 'there are too many of them');
    const write = read(device, kind, message.payload);
    if (typeof write === 'string') return odd.add(device, kind, write);
    const acknowledge = message.hold?.() ?? (() => {});
    if (queue.length >= MOST_WAITING) return;
    queue.push({ device, kind, isRepeated: false, write, acknowledge });
    run();
  };

  const open = (shareGroup: string | null): Bus =>
    openBus(
      {
        subscriptions: (conversations === null
          ? (['session_ended'] as const)
          : (['session_ended', 'conversation_ended'] as const)
        ).map((kind) => ({ filter: reportFilter(prefix, kind, shareGroup), qos: 1, mayBeRefused: true })),
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
        message: hear,
        oversized(topic) {
          const sender = reportSender(prefix, topic);
          if (sender !== null) odd.add(sender.device, sender.kind, 'it is too long');
        },
      },
    );

  return {
    listen(shareGroup) {
      if (isClosing || shareGroup === group) return;
      group = shareGroup;
      const last = bus;
      bus = open(shareGroup);
      void last?.close();
    },
    repeat(device, ended, confirm) {
      if (isClosing || repeatsTooOften(device) || queue.length > MOST_BEFORE_REPEATED) return;
      let left = ended.length;
      const acknowledge = (): void => {
        left -= 1;
        if (left === 0) confirm();
      };
      for (const { lane, session, live_ms: ms } of ended) {
        const write = () => store.report({ device, lane, session, ms });
        queue.push({ device, kind: 'session_ended', isRepeated: true, write, acknowledge });
      }
      run();
    },
    async close() {
      isClosing = true;
      await bus?.unsubscribe?.();
      endWait();
      await running;
      await odd.close();
      await bus?.close();
    },
  };
}

/** Counts reports that are not written, for each device, and logs them: once a minute and device. */
function createOddReports({ store, clock, log, complain }: DeviceReportsParts) {
  let counts = new Map<string, number>();
  let cancel: (() => void) | null = null;

  const write = async (): Promise<void> => {
    cancel = null;
    const due = counts;
    counts = new Map();
    if (due.size === 0) return;
    try {
      await store.addImplausible(due);
    } catch (error) {
      complainOfStore(error, complain, log);
      for (const [device, count] of due) note(device, count);
    }
  };
  const note = (device: string, count: number): void => {
    if (counts.size < MOST_DEVICES || counts.has(device))
      counts.set(device, (counts.get(device) ?? 0) + count);
    cancel ??= clock.at(clock.now() + COUNTED_EACH_MS, () => void write());
  };
  return {
    add(device: string, kind: ReportKind, why: string): void {
      complain(`report ${device}`, { device, kind, why }, 'a report of a device was counted and not written');
      note(device, 1);
    },
    async close(): Promise<void> {
      cancel?.();
      await write();
      cancel?.();
    },
  };
}
