/**
 * Receives requests from the broker, and tests that they arrive. A broker without shared subscriptions may accept `$share/...`
 * as a topic name without an error (MQTT 3.1.1), and then no request arrives. So the backend sends itself a request, and
 * falls back to a plain subscription if it does not arrive.
 */
import { fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import { createLimitedWarnings } from '../../machine/limited-warnings.ts';
import type { Bus, BusMessage, OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { parseJson, textAt } from '../../protocol/common/json.ts';
import { backendFilter, backendSelfTest } from '../../protocol/mqtt/topics.ts';
import { LARGEST_REQUEST_BYTES } from './request.ts';

const WAIT_MS = 2000;
const TRIES = 3;
/** Interval between two warnings of one kind while the broker is away (ms). */
const BROKER_QUIET_MS = 600_000;
/** Limit on answers to test requests: every client that may publish there can send them. */
const ANSWERS: Rate = { burst: 20, perMinute: 60 };

export interface HearingParts {
  readonly openBus: OpenBus;
  readonly prefix: string;
  /** Group of the shared subscription. */
  readonly shareGroup: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes a unique id. */
  readonly randomId: () => string;
  /** Called for each message that is not part of the test. */
  readonly message: (message: BusMessage) => void;
  /** Called when requests arrive, or when no subscription is left to try. */
  readonly listening: (isShared: boolean) => void;
}

/** `proven`: a test request has arrived. `unprovable`: none arrives on either subscription. */
type Trust = 'unknown' | 'proven' | 'unprovable';

export function openHearing(parts: HearingParts): Bus {
  const { openBus, prefix, shareGroup, clock, log, randomId } = parts;
  const { request, response } = backendSelfTest(prefix);
  const complain = createLimitedWarnings(log, clock);
  const newOutage = () => createLimitedWarnings(log, clock, BROKER_QUIET_MS);
  let complainOfBroker = newOutage();
  let shared = true;
  let trust: Trust = 'unknown';
  let asked: string | null = null;
  let closed = false;
  let answers = fullBucket(ANSWERS, clock.now());
  let cancel = (): void => {};

  const subscribed = (): Bus => {
    const bus = openBus(
      {
        subscriptions: [backendFilter(prefix, shared ? shareGroup : null), response],
        will: null,
        largestBytes: LARGEST_REQUEST_BYTES,
      },
      {
        up(connection, protocol) {
          log.info({ connection, protocol, shared }, 'connected to the broker');
          complainOfBroker = newOutage();
          if (trust === 'unprovable') return parts.listening(shared);
          ask();
        },
        down(problem, message) {
          cancel();
          asked = null;
          complainOfBroker(message, { problem }, message);
        },
        message: (message) => hear(message),
        oversized: (topic, bytes) =>
          complain(
            `oversized ${topic.slice(0, 200)}`,
            { topic: topic.slice(0, 200), bytes },
            'message ignored: it is larger than any token request',
          ),
      },
    );
    // Reconnects quickly: devices that reconnect before their backend get no tokens.
    bus.urgent(true);
    return bus;
  };

  const ask = (tries = TRIES): void => {
    cancel();
    asked = randomId();
    const wanted = { lane: 'backend', intent: 's2s', connection_type: 'ws', reason: 'start', attempt: 1 };
    bus.publish(request, JSON.stringify({ id: asked, ...wanted, probe: true }), { qos: 0 });
    cancel = clock.at(clock.now() + WAIT_MS, () => (tries > 1 ? ask(tries - 1) : void changeOver()));
  };

  const hear = (message: BusMessage): void => {
    if (message.topic === request) return echo(message);
    if (message.topic !== response) return parts.message(message);
    if (asked === null || idOf(message.payload) !== asked) return;
    cancel();
    asked = null;
    if (trust !== 'proven' && !shared) {
      const sentence =
        'this broker has no shared subscriptions: every backend receives every request. Run one backend only, or use another broker.';
      log.warn({}, sentence);
    }
    trust = 'proven';
    log.info({}, 'listening for token requests');
    parts.listening(shared);
  };

  /** Confirms a test request. Any backend of the group may receive it, so the confirmation goes to all. */
  const echo = ({ payload, retain }: BusMessage): void => {
    const id = idOf(payload);
    if (id === null || retain) return;
    const spent = spend(answers, ANSWERS, clock.now());
    answers = spent.bucket;
    if (spent.waitMs === 0) bus.publish(response, JSON.stringify({ ts: null, id, ok: true }), { qos: 0 });
  };

  /** Switches to the other kind of subscription. If neither receives the test, stays with the shared one. */
  const changeOver = async (): Promise<void> => {
    if (shared) {
      log.warn({}, 'no requests arrive on the shared subscription; trying without sharing');
    } else {
      trust = 'unprovable';
      const sentence = `cannot verify that requests arrive: messages to ${request} do not come back. Allow this backend to publish and subscribe there.`;
      log.error({}, sentence);
    }
    shared = !shared;
    await bus.close();
    if (!closed) bus = subscribed();
  };

  let bus = subscribed();
  return {
    get connected() {
      return bus.connected && (trust !== 'unknown' || asked === null);
    },
    get outbox() {
      return bus.outbox;
    },
    publish: (...message) => bus.publish(...message),
    urgent: (isUrgent) => bus.urgent(isUrgent),
    reconnect: () => bus.reconnect(),
    async unsubscribe() {
      cancel();
      asked = null;
      await bus.unsubscribe?.();
    },
    close(finale) {
      closed = true;
      cancel();
      return bus.close(finale);
    },
  };
}

function idOf(payload: string): string | null {
  const id = textAt(parseJson(payload), 'id');
  return id !== undefined && id.length <= 64 ? id : null;
}
