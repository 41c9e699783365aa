/** A whole agent whose session is revoked during a bad time of the broker's line, while somebody speaks. */
import { expect, it } from 'vitest';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { BASE, createFakeDeps, type FakeDeps, testConfig } from '../../device/fake-deps.ts';
import { fc } from '../../properties.ts';
import { limit, ready } from '../../service-events.ts';
import { createFlappingBroker, drawTroubles, type Trouble } from './flapping-broker.ts';

/** Longest time from the end of the trouble to the next stream (ms). */
const AT_MOST_MS = 15_000;
const CHUNK_MS = 320;

/** Returns how long the next stream took, counted from the end of the trouble. */
export async function liveThrough({ level, seed, cutAfterMs, parts }: Trouble): Promise<number> {
  const world: FakeDeps = createFakeDeps(testConfig({ standbyAfter: 0 }), {
    openBus: (options, listener) =>
      createMqttBus(
        { url: 'mqtt://broker.example', clientId: 'museum.kiosk-01' },
        { clock: world.clock, seed, openLink: broker.openLink },
      )(options, listener),
  });
  const broker = createFlappingBroker(world.clock, level, cutAfterMs, ({ topic, payload }, reply) => {
    if (topic !== `${BASE}/token/req`) return;
    const { id } = JSON.parse(payload) as { id: string };
    const stream_url = 'wss://service.example/streaming-api/{random_hash}/v1';
    reply(`${BASE}/token/res`, JSON.stringify({ id, ok: true, session: world.session(), stream_url }));
  });
  await world.agent.start();
  await world.clock.elapse(5000);
  world.lastStream().listener.opened();
  await world.clock.elapse(2800);
  world.service(ready());
  let spokenMs = 0;
  const speakUntil = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      // Words and pauses: a steady tone would soon count as noise.
      world.speak((spokenMs / CHUNK_MS) % 7 < 5 ? 8000 : 0, CHUNK_MS);
      spokenMs += CHUNK_MS;
      await world.clock.elapse(0);
      // The service answers pings.
      world.streams.at(-1)?.listener.pong();
    }
  };
  await speakUntil(() => spokenMs > 2000);
  const before = world.streams.length;
  for (const [index, [way, ms]] of parts.entries()) {
    broker.become(way);
    if (index === 0) world.service(limit('revoked'));
    const endsAt = spokenMs + ms;
    await speakUntil(() => spokenMs >= endsAt);
  }
  broker.become('fine');
  const since = spokenMs;
  await speakUntil(() => world.streams.length > before || spokenMs - since > 300_000);
  expect(JSON.stringify(world.logged)).not.toMatch(/another device|taken_over/);
  const stopped = world.agent.stop();
  await world.clock.elapse(12_000);
  await stopped;
  return spokenMs - since;
}

/** @param numRuns number of drawn troubles */
export function testAnyTrouble(numRuns: number): void {
  it('is followed by another 15 s after the trouble at the latest', async () => {
    await fc.assert(
      fc.asyncProperty(
        drawTroubles(120_000).filter(({ parts }) => parts.length > 0),
        async (trouble) => {
          expect(await liveThrough(trouble)).toBeLessThanOrEqual(AT_MOST_MS);
        },
      ),
      { numRuns },
    );
  });
}
