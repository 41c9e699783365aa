import { describe, expect, it } from 'vitest';
import type { StreamMessage } from '../../../src/ports/stream.ts';
import { World } from './world.ts';

const SLOW: StreamMessage = {
  message_type: 'warning',
  data: { code: 'AUDIO_STREAM_TOO_SLOW', message: 'slower than real time' },
};
const WORDS = { code: 'service_audio_stream_too_slow', message: 'slower than real time' };

describe('a warning of the service', () => {
  it('stands beside a real problem, not in its place', () => {
    const world = new World().goLive();
    world.fault('capture');
    const { problem } = world.state;
    world.says(SLOW);
    expect(world.state.problem).toBe(problem);
    expect(world.state.warning).toMatchObject(WORDS);
  });

  it('goes away when the stream has gone on for a minute', () => {
    const world = new World().goLive();
    world.says(SLOW);
    world.pass(40_000);
    world.says(SLOW);
    world.pass(50_000);
    expect(world.state.warning).toMatchObject(WORDS);
    world.pass(20_000);
    expect(world.state.warning).toBeNull();
  });

  it('goes away with its session', () => {
    const world = new World().goLive();
    world.says(SLOW);
    world.end(1006);
    expect(world.state.warning).toBeNull();
    expect(world.timers.has('warning')).toBe(false);
    expect(world.state.problem?.code).toBe('network');
  });

  it('in a flood costs few timers', () => {
    const world = new World().goLive();
    for (let i = 0; i < 3000; i++) {
      world.says(SLOW);
      world.pass(1);
    }
    expect(world.all('arm').filter(({ timer }) => timer === 'warning').length).toBeLessThan(3);
  });
});
