/** What a bad line or a broker in trouble costs while somebody speaks, in virtual time. */
import { expect, it } from 'vitest';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { fc } from '../../properties.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createFlappingBroker, drawTroubles, type Trouble } from './flapping-broker.ts';
import { createRecordingListener } from './test-buses.ts';

/** Longest time to the first message that arrives after a trouble (ms). */
export const AT_MOST_MS = 15_000;

export function startFlapping({ level, seed, cutAfterMs }: Omit<Trouble, 'parts'>) {
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

/** @param numRuns number of drawn troubles */
export function testAnyMixture(numRuns: number): void {
  it('is back 15 s after any mixture of cuts, and suspects no second client', () => {
    void fc.assert(
      fc.property(drawTroubles(300_000), fc.boolean(), (trouble, speaksLater) => {
        const { bus, broker, heard, request, suffer } = startFlapping(trouble);
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
      { numRuns },
    );
  });

  it('is back 15 s after a mixture of cuts that follows a proven second client', () => {
    void fc.assert(
      fc.property(drawTroubles(300_000), (trouble) => {
        const { bus, request, suffer } = startFlapping(trouble);
        bus.disputed?.(true);
        bus.urgent(true);
        suffer(trouble.parts);
        expect(request()).toBeLessThanOrEqual(AT_MOST_MS);
        void bus.close();
      }),
      { numRuns: Math.ceil(numRuns / 4) },
    );
  });
}
