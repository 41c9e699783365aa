import { describe, expect, it } from 'vitest';
import { createLatencyRecorder } from '../../../../src/device/lane/runner/latency.ts';
import { PlaybackPipeline } from '../../../../src/device/lane/runner/playback-pipeline.ts';
import type { LaneEvent } from '../../../../src/device/lane/state/lane-event.ts';
import type { Mixer, Playback, PlaybackSink } from '../../../../src/ports/audio.ts';
import { RAMP_MS } from '../../../../src/sound/gain-ramp.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';

const RATE_HZ = 24_000;
const PER_MS = RATE_HZ / 1000;

interface Given {
  volume?: number;
  mixer?: Mixer | null;
  delayMs?: number;
}

/** A playback pipeline whose loudspeaker plays everything with a delay. */
async function open({ volume = 100, mixer = null, delayMs = 0 }: Given = {}) {
  const clock = createVirtualClock();
  const written: number[][] = [];
  const events: LaneEvent[] = [];
  const latency = createLatencyRecorder();
  const lateMs: number[] = [];
  let sink: PlaybackSink | null = null;
  let until = 0;
  let flushes = 0;
  const playback: Playback = {
    mixer,
    write(pcm) {
      written.push([...new Int16Array(pcm.slice().buffer)]);
      const from = Math.max(clock.now() + delayMs, until);
      until = from + pcm.byteLength / 2 / PER_MS;
      return { from, until };
    },
    flush() {
      flushes++;
      until = clock.now();
    },
    close: async () => {},
  };
  const playbackPipeline = new PlaybackPipeline({
    clock,
    volume,
    rateHz: RATE_HZ,
    wireToSpeaker: latency,
    reference: { played() {}, flushed() {}, late: (byMs) => void lateMs.push(byMs) },
    post: (event) => events.push(event),
    openPlayback: async (given) => {
      sink = given;
      return playback;
    },
  });
  let writes = 0;
  const play = (samples: readonly number[], receivedAt: number | null = null): void => {
    const pcm = new Uint8Array(Int16Array.from(samples).buffer);
    playbackPipeline.play({ type: 'play', kind: 'speech', pcm, write: ++writes, receivedAt });
  };
  await playbackPipeline.open();
  return {
    clock,
    playbackPipeline,
    written,
    events,
    latency,
    lateMs,
    play,
    device: (): PlaybackSink => {
      if (sink === null) throw new Error('the loudspeaker was not opened');
      return sink;
    },
    flushes: () => flushes,
  };
}

const steady = (ms: number, value = 8000): number[] => Array.from({ length: ms * PER_MS }, () => value);
/** The largest step between two samples; a large one is a click. */
const roughest = (samples: readonly number[]): number =>
  samples.reduce((most, value, i) => Math.max(most, Math.abs(value - (samples[i - 1] ?? value))), 0);

describe('the part that compares heard with played sound', () => {
  it('gets the delay once for each correction by the device', async () => {
    const { clock, play, device, lateMs, playbackPipeline } = await open({ delayMs: 40 });
    const began = clock.now();
    device().measured(began + 500);
    expect(lateMs).toEqual([]);
    play(steady(100));
    device().measured(began + 190);
    device().measured(began + 180);
    expect(lateMs.map(Math.round)).toEqual([50, -10]);
    playbackPipeline.flush();
    device().measured(began + 900);
    expect(lateMs).toHaveLength(2);
  });
});

describe('the volume', () => {
  it('is applied by the pipeline without a mixer, and the given sound stays unchanged', async () => {
    const { play, written } = await open({ volume: 50 });
    const sound = [8000, -8000];
    play(sound);
    expect(written).toEqual([[1000, -1000]]);
    expect(sound).toEqual([8000, -8000]);
  });

  it('is left to the mixer if there is one', async () => {
    const volumes: number[] = [];
    const { play, written, playbackPipeline } = await open({
      volume: 50,
      mixer: { setVolume: (percent) => volumes.push(percent) },
    });
    play([8000]);
    playbackPipeline.setVolume(20);
    play([8000]);
    expect(volumes).toEqual([50, 20]);
    expect(written).toEqual([[8000], [8000]]);
  });

  it('is set again when a device returns, because it may be another one', async () => {
    const volumes: number[] = [];
    const { playbackPipeline, device, events } = await open({
      mixer: { setVolume: (percent) => volumes.push(percent) },
    });
    playbackPipeline.setVolume(20);
    device().back();
    expect(volumes).toEqual([100, 20, 20]);
    expect(events.at(-1)).toEqual({ type: 'playback_back' });
  });

  it('changes in the middle of a sound by a ramp without a click, and stays after it', async () => {
    const { play, written, playbackPipeline } = await open();
    play(steady(100));
    playbackPipeline.setVolume(50);
    play(steady(100));
    const [before = [], after = []] = written;
    expect(before).toEqual(steady(100));
    expect(after.at(-1)).toBe(1000);
    expect(after[RAMP_MS * PER_MS]).toBe(1000);
    expect(after[(RAMP_MS / 2) * PER_MS]).toBeGreaterThan(4000);
    expect(roughest([...before, ...after])).toBeLessThan(20);
  });

  it('applies from the first sample of the next sentence, and 100 leaves the bytes unchanged', async () => {
    const { play, written, playbackPipeline, clock } = await open({ volume: 50 });
    play(steady(100));
    clock.advance(200);
    playbackPipeline.setVolume(100);
    play(steady(10));
    expect(written[1]).toEqual(steady(10));
  });

  it('takes effect later when it is set before a loudspeaker is open', async () => {
    const volumes: number[] = [];
    let ready = (_: Playback): void => {};
    const playbackPipeline = new PlaybackPipeline({
      clock: createVirtualClock(),
      volume: 10,
      rateHz: RATE_HZ,
      post: () => {},
      wireToSpeaker: createLatencyRecorder(),
      openPlayback: () =>
        new Promise((resolve) => {
          ready = resolve;
        }),
    });
    const opened = playbackPipeline.open();
    playbackPipeline.setVolume(70);
    const mixer = { setVolume: (percent: number) => volumes.push(percent) };
    ready({ mixer, write: () => ({ from: 0, until: 0 }), flush: () => {}, close: async () => {} });
    await opened;
    expect(volumes).toEqual([70]);
  });
});

describe('ducking', () => {
  it('lowers the sound by 12 dB within the ramp, and raises it the same way', async () => {
    const { play, written, playbackPipeline } = await open();
    play(steady(100));
    playbackPipeline.duck(true);
    play(steady(100));
    playbackPipeline.duck(false);
    play(steady(100));
    const [, down = [], up = []] = written;
    expect(down.at(-1)).toBe(Math.round(8000 * 10 ** (-12 / 20)));
    expect(up.at(-1)).toBe(8000);
    expect(roughest(written.flat())).toBeLessThan(10);
  });

  it('is applied on top of the volume, in software even with a mixer', async () => {
    const { play, written, playbackPipeline } = await open({ volume: 50, mixer: { setVolume: () => {} } });
    playbackPipeline.duck(true);
    play(steady(1));
    expect(written[0]?.[0]).toBe(2010);
    const soft = await open({ volume: 50 });
    soft.playbackPipeline.duck(true);
    soft.play(steady(1));
    expect(soft.written[0]?.[0]).toBe(251);
  });

  it('continues from the present gain when it is reversed half way', async () => {
    const { play, written, playbackPipeline } = await open();
    play(steady(100));
    playbackPipeline.duck(true);
    play(steady(20));
    playbackPipeline.duck(false);
    play(steady(100));
    expect(roughest(written.flat())).toBeLessThan(10);
    expect(written[2]?.at(-1)).toBe(8000);
  });
});

describe('the played sound', () => {
  it('is reported to the lane for every write, with the latency if the loudspeaker was free', async () => {
    const { play, events, latency, clock } = await open({ delayMs: 300 });
    const start = clock.now();
    play(steady(100), start - 5);
    play(steady(50));
    expect(events).toEqual([
      {
        type: 'sounding',
        write: 1,
        from: start + 300,
        until: start + 400,
        audible: { fromMs: 0, untilMs: 100 },
      },
      {
        type: 'sounding',
        write: 2,
        from: start + 400,
        until: start + 450,
        audible: { fromMs: 0, untilMs: 50 },
      },
    ]);
    expect(latency.summary()).toMatchObject({ count: 1, max: 305 });
  });

  it('is corrected when the device has measured it', async () => {
    const { play, events, device } = await open();
    play(steady(100));
    device().measured(5555);
    expect(events.at(-1)).toEqual({ type: 'sounding', write: 1, from: null, until: 5555 });
  });

  it('is corrected after a write when the device is later than expected', async () => {
    const events: LaneEvent[] = [];
    const playbackPipeline = new PlaybackPipeline({
      clock: createVirtualClock(),
      volume: 100,
      rateHz: RATE_HZ,
      wireToSpeaker: createLatencyRecorder(),
      post: (event) => events.push(event),
      openPlayback: async () => ({
        mixer: null,
        write: () => ({ from: 5000, until: 7777 }),
        flush: () => {},
        close: async () => {},
      }),
    });
    await playbackPipeline.open();
    playbackPipeline.play({
      type: 'play',
      kind: 'speech',
      pcm: new Uint8Array(480),
      write: 1,
      receivedAt: null,
    });
    expect(events).toEqual([
      expect.objectContaining({ type: 'sounding', write: 1, from: 5000, until: 5010 }),
      { type: 'sounding', write: 1, from: null, until: 7777 },
    ]);
  });

  it('is empty when no loudspeaker could be opened', async () => {
    const events: LaneEvent[] = [];
    const clock = createVirtualClock();
    const playbackPipeline = new PlaybackPipeline({
      clock,
      volume: 100,
      rateHz: RATE_HZ,
      wireToSpeaker: createLatencyRecorder(),
      post: (event) => events.push(event),
      openPlayback: async () => {
        throw new Error('no such card');
      },
    });
    await playbackPipeline.open();
    const pcm = new Uint8Array(480);
    playbackPipeline.play({ type: 'play', kind: 'speech', pcm, write: 1, receivedAt: null });
    playbackPipeline.flush();
    playbackPipeline.setVolume(3);
    await playbackPipeline.close();
    expect(events).toEqual([
      { type: 'audio_fault', device: 'playback', code: 'failed', message: 'no such card' },
      { type: 'sounding', write: 1, from: clock.now(), until: clock.now() },
    ]);
  });

  it('reports a fault, the unheard sound, and the end of the fault', async () => {
    const { device, events } = await open();
    device().fault({ code: 'lost', message: 'gone' });
    device().missed(640);
    device().back();
    expect(events).toEqual([
      { type: 'audio_fault', device: 'playback', code: 'lost', message: 'gone' },
      { type: 'unheard', ms: 640 },
      { type: 'playback_back' },
    ]);
  });
});

describe('a flush', () => {
  it('removes the pending sound, and the next sound begins at the right level', async () => {
    const { play, playbackPipeline, written, clock, flushes } = await open();
    play(steady(100));
    clock.advance(40);
    playbackPipeline.setVolume(50);
    playbackPipeline.flush();
    expect(flushes()).toBe(1);
    expect(written).toHaveLength(1);
    play(steady(10));
    expect(written[1]).toEqual(steady(10, 1000));
  });
});
