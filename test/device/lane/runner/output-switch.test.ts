import { describe, expect, it } from 'vitest';
import { createLatencyRecorder } from '../../../../src/device/lane/runner/latency.ts';
import { PlaybackPipeline } from '../../../../src/device/lane/runner/playback-pipeline.ts';
import type { LaneEvent } from '../../../../src/device/lane/state/lane-event.ts';
import type { OpenPlayback, PlaybackSink } from '../../../../src/ports/audio.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';

const SAMPLE = 8000;

/** A pipeline with two devices, each of which opens and closes after a while. */
async function open({ openMs = 0, closeMs = 0 }: { openMs?: number; closeMs?: number } = {}) {
  const clock = createVirtualClock();
  const wait = (ms: number): Promise<void> =>
    ms === 0 ? Promise.resolve() : new Promise((resolve) => void clock.at(clock.now() + ms, resolve));
  const written: [string, number][] = [];
  const sinks: PlaybackSink[] = [];
  const holding: string[] = [];
  const together: string[][] = [];
  const events: LaneEvent[] = [];
  const inRoom: number[] = [];
  const device =
    (name: string): OpenPlayback =>
    async (sink) => {
      await wait(openMs);
      sinks.push(sink);
      holding.push(name);
      if (holding.length > 1) together.push([...holding]);
      return {
        mixer: null,
        write(pcm) {
          written.push([name, new Int16Array(pcm.slice().buffer)[0] ?? 0]);
          return { from: clock.now(), until: clock.now() };
        },
        flush: () => undefined,
        async close() {
          await wait(closeMs);
          holding.splice(holding.indexOf(name), 1);
        },
      };
    };
  const pipeline = new PlaybackPipeline({
    clock,
    volume: 100,
    rateHz: 24_000,
    wireToSpeaker: createLatencyRecorder(),
    reference: { played: (pcm) => void inRoom.push(pcm.byteLength), flushed() {}, late() {} },
    post: (event) => events.push(event),
    openPlayback: device('loudspeaker'),
    openHeadset: device('headset'),
  });
  let write = 0;
  const play = (): void =>
    pipeline.play({
      type: 'play',
      kind: 'earcon',
      pcm: new Uint8Array(Int16Array.of(SAMPLE).buffer),
      write: ++write,
      receivedAt: null,
    });
  const opening = pipeline.open();
  await clock.elapse(openMs);
  await opening;
  return { clock, pipeline, play, written, sinks, holding, together, events, inRoom, device };
}
const backs = (events: readonly LaneEvent[]): number =>
  events.filter(({ type }) => type === 'playback_back').length;

describe('the switch between loudspeaker and headset', () => {
  it('plays on one of them alone, each at its own volume, and reports when the other one is open', async () => {
    const { clock, pipeline, play, written, events, holding } = await open({ openMs: 50, closeMs: 20 });
    play();
    void pipeline.useOutput('headset', 50);
    await clock.elapse(60);
    expect(backs(events)).toBe(0);
    await clock.elapse(20);
    expect(backs(events)).toBe(1);
    expect(holding).toEqual(['headset']);
    play();
    void pipeline.useOutput('loudspeaker', 100);
    await clock.elapse(100);
    play();
    expect(written).toEqual([
      ['loudspeaker', SAMPLE],
      ['headset', SAMPLE / 8],
      ['loudspeaker', SAMPLE],
    ]);
  });

  it('gives no sound of the headset to the parts that protect microphones from echo', async () => {
    const { clock, pipeline, play, inRoom } = await open();
    void pipeline.useOutput('headset', 100);
    await clock.elapse(1);
    play();
    expect(inRoom).toEqual([]);
    void pipeline.useOutput('loudspeaker', 100);
    await clock.elapse(1);
    play();
    expect(inRoom).toHaveLength(1);
  });

  it('waits for a device to be free before the next one opens when the plug bounces', async () => {
    const { clock, pipeline, play, written, holding, together, events } = await open({ closeMs: 30 });
    for (const output of ['headset', 'loudspeaker', 'headset', 'loudspeaker', 'headset'] as const) {
      void pipeline.useOutput(output, 100);
      await clock.elapse(10);
      play();
    }
    await clock.elapse(500);
    play();
    // The loudspeaker is free after 30 ms: the headset opens at its second turn, and again at its third.
    expect(written).toEqual([
      ['headset', SAMPLE],
      ['headset', SAMPLE],
    ]);
    expect(holding).toEqual(['headset']);
    expect(together).toEqual([]);
    expect(backs(events)).toBe(2);
  });

  it('closes a device that opens after its turn, and plays nothing on it', async () => {
    const { clock, pipeline, play, written, holding, events } = await open({ openMs: 300 });
    void pipeline.useOutput('headset', 100);
    await clock.elapse(100);
    void pipeline.useOutput('loudspeaker', 100);
    await clock.elapse(250);
    // The headset has opened meanwhile.
    play();
    await clock.elapse(100);
    play();
    expect(written).toEqual([['loudspeaker', SAMPLE]]);
    expect(holding).toEqual(['loudspeaker']);
    expect(backs(events)).toBe(1);
  });

  it('ignores what a device that is not wanted any more reports', async () => {
    const { clock, pipeline, sinks, events } = await open();
    void pipeline.useOutput('headset', 100);
    await clock.elapse(1);
    const before = events.length;
    const [old] = sinks;
    old?.fault({ code: 'lost', message: 'gone' });
    old?.back();
    old?.missed(5);
    old?.measured(clock.now() + 5);
    expect(events).toHaveLength(before);
  });

  it('opens a newly configured loudspeaker only when the plug is out', async () => {
    const { clock, pipeline, holding, device } = await open();
    void pipeline.useOutput('headset', 100);
    await clock.elapse(1);
    await pipeline.renew(device('other'));
    expect(holding).toEqual(['headset']);
    void pipeline.useOutput('loudspeaker', 100);
    await clock.elapse(1);
    expect(holding).toEqual(['other']);
  });

  it('frees everything at the close, also a device that is still opening', async () => {
    const { clock, pipeline, holding } = await open({ openMs: 50, closeMs: 10 });
    void pipeline.useOutput('headset', 100);
    await clock.elapse(20);
    const closing = pipeline.close();
    await clock.elapse(500);
    await closing;
    expect(holding).toEqual([]);
    expect(clock.armed).toBe(0);
  });
});
