/** What a bad line or a broker in trouble costs while somebody speaks, in virtual time. */
import { describe, expect, it } from 'vitest';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createFlappingBroker } from './flapping-broker.ts';
import { AT_MOST_MS, startFlapping, testAnyMixture } from './flapping-bus.ts';
import { createRecordingListener } from './test-buses.ts';

describe('a broker connection that somebody needs', () => {
  testAnyMixture(80);

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
      const { bus, heard, broker, request, suffer } = startFlapping({
        level,
        seed: seed * 7919,
        cutAfterMs: 4000,
      });
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
          clock,
          seed: seed * 7919,
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
