/** What a bad line or a broker in trouble costs while somebody speaks, in virtual time. */
import { describe, expect, it } from 'vitest';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { fc } from '../../properties.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createFlappingBroker, drawTroubles, type Trouble } from './flapping-broker.ts';
import { createRecordingListener } from './test-buses.ts';

/** Longest time to the first message that arrives after a trouble (ms). */
const AT_MOST_MS = 15_000;

function start({ level, seed, cutAfterMs }: Omit<Trouble, 'parts'>) {
  const clock = createVirtualClock();
  const broker = createFlappingBroker(clock, level, cutAfterMs);
  const { heard, listener } = createRecordingListener();
  const bus = createMqttBus(
    { url: 'mqtt://broker.example', clientId: 'museum.kiosk-01' },
    { clock, seed, openLink: broker.openLink },
  )({ subscriptions: ['a'], keptForS: 600, will: null }, listener);
  clock.advance(1000);
  expect(heard.ups).toHaveLength(1);
  /** Publishes a request for a token, and returns how long it takes (ms). */
  const request = (): number => {
    const since = clock.now();
    let isDelivered = false;
    bus.publish('token/req', '{}', {
      share: 'tokens',
      ended: (delivered) => {
        isDelivered ||= delivered;
      },
    });
    while (!isDelivered && clock.now() - since < 600_000) clock.advance(100);
    return clock.now() - since;
  };
  /** Lives through the parts, with a request each five seconds as a lane makes them. */
  const suffer = (parts: Trouble['parts']): void => {
    for (const [way, ms] of parts) {
      broker.become(way);
      for (let left = ms; left > 0; left -= 5000) {
        bus.publish('token/req', '{}', { share: 'tokens', properties: { expiryS: 10 } });
        clock.advance(Math.min(left, 5000));
      }
    }
    broker.become('fine');
  };
  return { bus, broker, clock, heard, request, suffer };
}

describe('a broker connection that somebody needs', () => {
  it('is back 15 s after any mixture of cuts, and suspects no second client', () => {
    void fc.assert(
      fc.property(drawTroubles(300_000), fc.boolean(), (trouble, speaksLater) => {
        const { bus, broker, heard, request, suffer } = start(trouble);
        const before = broker.versions.at(-1);
        if (!speaksLater) bus.urgent(true);
        suffer(trouble.parts);
        bus.urgent(true);
        expect(request()).toBeLessThanOrEqual(AT_MOST_MS);
        expect(heard.downs.map(({ problem }) => problem)).not.toContain('taken_over');
        // The version is that of before: nothing said that the broker lacks it.
        expect([broker.versions.at(-1), before]).toEqual([trouble.level, trouble.level]);
        void bus.close();
      }),
      { numRuns: 400 },
    );
  });

  it('is back 15 s after a mixture of cuts that follows a proven second client', () => {
    void fc.assert(
      fc.property(drawTroubles(300_000), (trouble) => {
        const { bus, request, suffer } = start(trouble);
        bus.disputed?.(true);
        bus.urgent(true);
        suffer(trouble.parts);
        expect(request()).toBeLessThanOrEqual(AT_MOST_MS);
        void bus.close();
      }),
    );
  });

  it.each([
    ['four cuts, about 4 s apart, of MQTT 3.1.1', 4, [['cuts', 16_000]]],
    [
      'a broker that is away for 14 s, restarts without its sessions, and three cuts',
      5,
      [
        ['away', 14_000],
        ['restarts', 4000],
        ['cuts', 12_000],
      ],
    ],
    ['ten seconds behind a relay that hangs up', 5, [['hangs_up', 10_000]]],
  ] as const)('is back after %s', (_, level, given) => {
    for (let seed = 0; seed < 50; seed += 1) {
      const { bus, heard, broker, request, suffer } = start({ level, seed: seed * 7919, cutAfterMs: 4000 });
      suffer(given);
      bus.urgent(true);
      expect(request()).toBeLessThanOrEqual(AT_MOST_MS);
      expect(heard.downs.map(({ problem }) => problem)).not.toContain('taken_over');
      expect(broker.versions.at(-1)).toBe(level);
      void bus.close();
    }
  });
});

describe('a trial of another broker that does not answer', () => {
  it('delays the way back to the present one by 15 s at most while somebody speaks', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const clock = createVirtualClock();
      const present = createFlappingBroker(clock, 5, 0);
      const other = createFlappingBroker(clock, 5, 0);
      other.become('silent');
      const { heard, listener } = createRecordingListener();
      const bus = createMqttBus(
        { url: 'mqtt://present.example', clientId: 'museum.kiosk-01' },
        {
          ...{ clock, seed: seed * 7919 },
          openLink: (target, ...more) =>
            (target.broker.includes('present') ? present : other).openLink(target, ...more),
          other: () => ({ url: 'mqtt://other.example', clientId: 'museum.kiosk-01' }),
        },
      )({ subscriptions: ['a'], keptForS: 600, will: null }, listener);
      clock.advance(1000);
      const results: (string | null)[] = [];
      bus.attempt?.({ topic: 't', payload: '', retain: true }, (problem) => void results.push(problem));
      clock.advance(100);
      present.become('restarts');
      present.become('fine');
      bus.urgent(true);
      clock.advance(AT_MOST_MS);
      expect(results).toEqual(['cannot reach mqtt://other.example: no answer']);
      expect([bus.connected, heard.ups.length, heard.downs.length]).toEqual([true, 2, 1]);
      void bus.close();
    }
  });
});
