import { describe, expect, it } from 'vitest';
import { createLatencyRecorder } from '../../../../src/device/lane/runner/latency.ts';
import { PlaybackPipeline } from '../../../../src/device/lane/runner/playback-pipeline.ts';
import type { LaneEvent } from '../../../../src/device/lane/state/lane-event.ts';
import type { Playback } from '../../../../src/ports/audio.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';

const RATE_HZ = 24_000;

describe('a loudspeaker that cannot be opened', () => {
  it('is retried until it opens; the lane then reports it and sets the present volume', async () => {
    const events: LaneEvent[] = [];
    const volumes: number[] = [];
    const clock = createVirtualClock();
    let tries = 0;
    const playbackPipeline = new PlaybackPipeline({
      clock,
      volume: 100,
      rateHz: RATE_HZ,
      wireToSpeaker: createLatencyRecorder(),
      post: (event) => events.push(event),
      openPlayback: async () => {
        tries += 1;
        if (tries < 8) throw new Error(tries === 1 ? 'busy' : 'no such card');
        const mixer = { setVolume: (percent: number) => volumes.push(percent) };
        const write = () => ({ from: clock.now(), until: clock.now() + 10 });
        return { mixer, write, flush: () => undefined, close: async () => {} };
      },
    });
    await playbackPipeline.open();
    playbackPipeline.setVolume(30);
    // 1, 2, 4, 8, 16 s, then 30 s each.
    await clock.elapse(60_900);
    expect(tries).toBe(6);
    await clock.elapse(200);
    expect(tries).toBe(7);
    await clock.elapse(30_000);
    expect(events).toEqual([
      { type: 'audio_fault', device: 'playback', code: 'failed', message: 'busy' },
      { type: 'audio_fault', device: 'playback', code: 'failed', message: 'no such card' },
      { type: 'playback_back' },
    ]);
    expect(volumes).toEqual([30]);
    const pcm = new Uint8Array(480);
    playbackPipeline.play({ type: 'play', kind: 'speech', pcm, write: 1, receivedAt: null });
    expect(events.at(-1)).toMatchObject({ from: clock.now(), until: clock.now() + 10 });
    await clock.elapse(100_000);
    expect(tries).toBe(8);
  });

  it('is closed when it opens after the end of its lane', async () => {
    const clock = createVirtualClock();
    let closed = 0;
    let open = (_: Playback): void => {};
    const playbackPipeline = new PlaybackPipeline({
      clock,
      volume: 100,
      rateHz: RATE_HZ,
      wireToSpeaker: createLatencyRecorder(),
      post: () => {},
      openPlayback: () =>
        new Promise((resolve) => {
          open = resolve;
        }),
    });
    const opening = playbackPipeline.open();
    await playbackPipeline.close();
    const write = () => ({ from: 0, until: 0 });
    open({ mixer: null, write, flush: () => undefined, close: async () => void closed++ });
    await opening;
    expect(closed).toBe(1);
  });
});
