import { describe, expect, it } from 'vitest';
import { createLatencyRecorder } from '../../src/agent/latency.ts';
import { Mouth } from '../../src/agent/mouth.ts';
import type { Mixer } from '../../src/ports/audio.ts';

async function open(volume: number, mixer: Mixer | null) {
  const written: number[][] = [];
  const mouth = new Mouth({
    volume,
    wireToSpeaker: createLatencyRecorder(),
    post: () => {},
    openPlayback: async () => ({
      mixer,
      write: (pcm) => {
        written.push([...new Int16Array(pcm.slice().buffer)]);
        return 0;
      },
      flush: () => {},
      close: async () => {},
    }),
  });
  await mouth.open();
  return { mouth, written };
}

const bytes = (samples: number[]): Uint8Array => new Uint8Array(Int16Array.from(samples).buffer);

describe('the mouth', () => {
  it('turns the volume down itself where the device has no mixer, and leaves the giver his sound', async () => {
    const { mouth, written } = await open(50, null);
    const sound = bytes([8000, -8000]);
    mouth.play(sound, null);
    expect(written).toEqual([[1000, -1000]]);
    expect(sound).toEqual(bytes([8000, -8000]));
  });

  it('leaves the volume to the mixer where there is one', async () => {
    const volumes: number[] = [];
    const { mouth, written } = await open(50, { setVolume: (percent) => volumes.push(percent) });
    mouth.play(bytes([8000]), null);
    expect(volumes).toEqual([50]);
    expect(written).toEqual([[8000]]);
  });
});
