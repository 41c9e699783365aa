/** A broker behind a bad line, without sockets: connections and messages pass in virtual time. */
import { ALL_ALLOWED } from '../../../src/adapters/mqtt/allowances.ts';
import { type Ending, explainClose, explainError } from '../../../src/adapters/mqtt/end-reasons.ts';
import type { Link, LinkSink, LinkTarget, openLink } from '../../../src/adapters/mqtt/link.ts';
import { fc } from '../../properties.ts';
import type { VirtualClock } from '../../virtual-clock.ts';

/** What the line and the broker do for a while. */
export const WAYS = [
  'fine',
  /** Nothing listens. */
  'away',
  /** Every packet is lost, and connections that were up are dead from then on. */
  'silent',
  /** Hangs up on CONNECT. */
  'hangs_up',
  /** Resets on CONNECT. */
  'resets',
  /** Hangs up between CONNACK and SUBACK. */
  'hangs_up_early',
  /** Answers CONNECT, but not SUBSCRIBE. */
  'no_subscription',
  /** Hangs up on each connection some seconds after its start. */
  'cuts',
  /** As `cuts`, with a reset. */
  'cuts_by_reset',
  /** Restarts at once. */
  'restarts',
  /** Answers CONNECT with a refusal: its list of users is not loaded yet. */
  'refuses',
] as const;
export type Way = (typeof WAYS)[number];

/** A bad time, and the broker that has it. */
export interface Trouble {
  readonly level: 4 | 5;
  readonly seed: number;
  readonly cutAfterMs: number;
  readonly parts: readonly (readonly [way: Way, ms: number])[];
}

export function drawTroubles(mostMs: number): fc.Arbitrary<Trouble> {
  const parts = fc
    .array(fc.tuple(fc.constantFrom(...WAYS), fc.integer({ min: 50, max: mostMs / 5 })), { maxLength: 20 })
    .map((drawn) => {
      let left = mostMs;
      return drawn.flatMap(([way, ms]) => {
        const taken = Math.min(ms, left);
        left -= taken;
        return taken > 0 ? [[way, taken] as const] : [];
      });
    });
  return fc.record({
    level: fc.constantFrom(4 as const, 5 as const),
    seed: fc.integer(),
    cutAfterMs: fc.integer({ min: 0, max: 5000 }),
    parts,
  });
}

const ROUND_TRIP_MS = 40;
const UNSUPPORTED_VERSION = 1;
const NOT_AUTHORIZED = 5;
const RESET = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
const NOTHING_LISTENS = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

/**
 * @param level the newest version of MQTT that the broker supports
 * @param cutAfterMs how long connections last in `cuts`
 * @param onPublish another client that hears everything and may reply
 */
export function createFlappingBroker(
  clock: VirtualClock,
  level: 4 | 5,
  cutAfterMs: number,
  onPublish: (
    message: { readonly topic: string; readonly payload: string },
    reply: (topic: string, payload: string) => void,
  ) => void = () => {},
) {
  let way: Way = 'fine';
  const versions: (4 | 5)[] = [];
  const open = new Set<{ end(ending: Ending): void; kill(): void }>();

  const openFlapping: typeof openLink = ({ broker, version }: LinkTarget, _clock, sink: LinkSink): Link => {
    let stage: 'connecting' | 'accepted' | 'ready' | 'ended' = 'connecting';
    let isDead = false;
    versions.push(version);
    const end = (ending: Ending): void => {
      if (stage === 'ended') return;
      stage = 'ended';
      open.delete(handle);
      sink.ended(ending);
    };
    const kill = (): void => {
      isDead = true;
    };
    const handle = { end, kill };
    open.add(handle);
    const hangUp = (): void => end(explainClose(broker, stage !== 'connecting'));
    /** As seen at the device: after a round trip, if the line still carries anything. */
    const later = (ms: number, act: () => void): void =>
      void clock.at(clock.now() + ms, () => {
        if (!isDead && stage !== 'ended') act();
      });
    const isCut = (): boolean => way === 'cuts' || way === 'cuts_by_reset';

    later(ROUND_TRIP_MS, () => {
      if (way === 'away') return end(explainError(broker, NOTHING_LISTENS, version));
      if (way === 'silent') return kill();
      if (way === 'hangs_up') return hangUp();
      if (way === 'resets') return end(explainError(broker, RESET, version));
      if (version > level) return end(explainError(broker, { code: UNSUPPORTED_VERSION }, version));
      if (way === 'refuses') return end(explainError(broker, { code: NOT_AUTHORIZED }, version));
      stage = 'accepted';
      sink.accepted();
      later(ROUND_TRIP_MS, () => {
        if (way === 'silent' || way === 'no_subscription') return kill();
        if (way !== 'fine' && way !== 'restarts' && !isCut()) return hangUp();
        stage = 'ready';
        sink.ready([]);
        later(cutAfterMs, () => {
          if (isCut())
            end(way === 'cuts' ? explainClose(broker, true) : explainError(broker, RESET, version));
        });
      });
    });
    return {
      broker,
      version,
      window: 16,
      largestPacketBytes: Number.POSITIVE_INFINITY,
      allowed: ALL_ALLOWED,
      congested: false,
      get accepted() {
        return stage === 'accepted' || stage === 'ready';
      },
      publish: ({ topic, payload }, done) =>
        later(ROUND_TRIP_MS, () => {
          done(null);
          onPublish({ topic, payload }, (to, body) =>
            later(ROUND_TRIP_MS, () =>
              sink.message({ topic: to, payload: body, retain: false, properties: {} }),
            ),
          );
        }),
      subscribe: () => {},
      unsubscribe: (_subscriptions, done) => done(),
      end: () => void clock.at(clock.now(), () => end(explainClose(broker, true))),
      // As a socket does, it reports its end later.
      destroy: (why) =>
        void clock.at(clock.now(), () =>
          end(why === undefined ? explainClose(broker, true) : { problem: 'unreachable', message: why }),
        ),
    };
  };

  return {
    openLink: openFlapping,
    /** The MQTT version of each try. */
    versions,
    become(next: Way): void {
      way = next;
      const ends = [...open];
      if (way === 'silent') for (const one of ends) one.kill();
      if (way === 'away' || way === 'restarts' || way === 'cuts')
        for (const one of ends) one.end(explainClose('the broker', true));
    },
  };
}
