/** Speech that is dropped at the end of a lane, as the owner sees it. */
import { describe, expect, it } from 'vitest';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { EVENT_SCHEMAS } from '../../src/protocol/mqtt/event.ts';
import { spoke } from '../service-events.ts';
import { createFakeDeps, type FakeDeps } from './fake-deps.ts';

const TOPIC = 'event/speech_dropped';
const told = (deps: Pick<FakeDeps, 'sent'>) => deps.sent(TOPIC).map(({ body }) => body);

function say(deps: Pick<FakeDeps, 'service'>, name: string, ms: number): void {
  const pcm = new Uint8Array(new Int16Array(ms * 24).fill(8000).buffer);
  deps.service(spoke(pcm, { sentence: name, utterance: name, last: true }));
}

/** 820 ms of 15,620 were played: the loudspeaker lags by 20 ms. */
async function speaking(): Promise<FakeDeps> {
  const deps = createFakeDeps();
  await deps.goLive();
  say(deps, 'a', 3620);
  say(deps, 'b', 8000);
  say(deps, 'c', 4000);
  deps.clock.advance(840);
  return deps;
}

describe('queued translated speech when the lane ends', () => {
  it('by the command `stop`: is reported by one event and a sum, and is not a fault', async () => {
    const deps = await speaking();
    deps.command('stop', { id: 'x' });
    say(deps, 'd', 2000);
    deps.clock.advance(5000);
    expect(told(deps)).toEqual([
      expect.objectContaining({ lane: 'main', why: 'stop', sentences: 4, dropped_ms: 16_800, waiting_ms: 0 }),
    ]);
    expect(() => EVENT_SCHEMAS.speech_dropped.parse(told(deps)[0])).not.toThrow();
    const { lanes } = stateSchema.parse(deps.sent('state').at(-1)?.body);
    expect(lanes[0]).toMatchObject({ speech_dropped_ms: 16_800, unspoken_ms: 0, speech_lost_ms: 0 });
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ status: 'idle', reasons: ['stopped'] });
    const lines = deps.logged.filter(([, sentence]) => sentence === 'event speech_dropped');
    expect(lines.map(([level]) => level)).toEqual(['info']);
  });

  it('by the end of the agent: is reported before the device is offline, even if the service does not end', async () => {
    const deps = await speaking();
    const ended = deps.agent.stop();
    await deps.clock.elapse(2000);
    expect(deps.finale).toBeNull();
    await deps.clock.elapse(8000);
    await ended;
    expect(told(deps)).toEqual([expect.objectContaining({ why: 'stop', dropped_ms: 14_800 })]);
    expect(JSON.stringify(deps.finale)).toContain('offline');
  });
});
