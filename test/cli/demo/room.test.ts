import { describe, expect, it } from 'vitest';
import { createRoom } from '../../../src/cli/demo/acoustics.ts';
import type { CaptureSink } from '../../../src/ports/audio.ts';

const RATE_HZ = 1000;

function tone(samples: number, value: number): Uint8Array {
  const pcm = new Uint8Array(samples * 2);
  const view = new DataView(pcm.buffer);
  for (let i = 0; i < samples; i++) view.setInt16(i * 2, value, true);
  return pcm;
}

const samplesOf = (pcm: Uint8Array): number[] => [...new Int16Array(pcm.slice().buffer)];

/** A microphone and a loudspeaker in one room, both driven by the test. */
async function furnish() {
  const room = createRoom(RATE_HZ);
  const heard: { pcm: Uint8Array; at: number }[] = [];
  let sink: CaptureSink | null = null;
  await room.fillMicrophone(async (given) => {
    sink = given;
    return { close: async () => {} };
  })({ frames: (pcm, at) => heard.push({ pcm, at }), ended: () => {}, fault: () => {} });
  let startsAt = 0;
  const playback = await room.hearLoudspeaker(async () => ({
    mixer: null,
    write: () => ({ from: startsAt, until: startsAt }),
    flush: () => {},
    close: async () => {},
  }))({ fault: () => {}, back: () => {}, missed: () => {}, measured: () => {} });
  return {
    room,
    heard,
    capture: (pcm: Uint8Array, at: number) => sink?.frames(pcm, at),
    play: (pcm: Uint8Array, at: number) => {
      startsAt = at;
      return playback.write(pcm).from;
    },
  };
}

describe('the room of a demo', () => {
  it('does not change the microphone while the echo is off', async () => {
    const { capture, play, heard } = await furnish();
    play(tone(500, 10_000), 1000);
    const pcm = tone(100, 5);
    capture(pcm, 1300);
    expect(heard).toEqual([{ pcm, at: 1300 }]);
    expect(heard[0]?.pcm).toBe(pcm);
  });

  it('adds the delayed and attenuated loudspeaker to the right samples', async () => {
    const { room, capture, play, heard } = await furnish();
    room.letEchoIn();
    expect(play(tone(50, 10_000), 1000)).toBe(1000);
    const pcm = tone(100, 5);
    // Captured from 1100 to 1200; the echo sounds from 1120 to 1170.
    capture(pcm, 1200);
    const expected = [...Array(20).fill(5), ...Array(50).fill(2005), ...Array(30).fill(5)];
    expect(samplesOf(heard[0]?.pcm ?? new Uint8Array())).toEqual(expected);
    expect(samplesOf(pcm)).toEqual(Array(100).fill(5));
  });

  it('continues an echo across pieces, and saturates', async () => {
    const { room, capture, play, heard } = await furnish();
    room.letEchoIn();
    play(tone(100, 32_000), 1000);
    capture(tone(50, 30_000), 1150);
    capture(tone(100, 30_000), 1250);
    const [first, second] = heard.map(({ pcm }) => samplesOf(pcm));
    expect(first).toEqual([...Array(20).fill(30_000), ...Array(30).fill(32_767)]);
    expect(second).toEqual([...Array(70).fill(32_767), ...Array(30).fill(30_000)]);
  });
});
