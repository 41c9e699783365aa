/** A loudspeaker never shrieks: sound that cannot be speech is muted, and ordinary sound passes as it came. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { applyGain, joinPcm, samplesOf } from '../../../src/sound/pcm.ts';
import { PlayoutHarness } from './playout-harness.ts';
import { loudest, MALFORMED, ordinarySound, sentences } from './real-speech.ts';

const BYTES_PER_MS = 48;
/** A message of the service (ms): as a live one sends, and in small pieces. */
const MESSAGES_MS = [320, 20];

/** Everything that is played of sound that arrives a little faster than it plays. */
function play(pcm: Uint8Array, messageMs: number): { played: Uint8Array; mutedMs: number } {
  const harness = new PlayoutHarness();
  const bytes = messageMs * BYTES_PER_MS;
  for (let at = 0; at < pcm.length; at += bytes) {
    harness.take(1, 'a', pcm.slice(at, at + bytes), at + bytes >= pcm.length);
    harness.pass(messageMs * 0.9);
  }
  harness.pass(pcm.length / BYTES_PER_MS + 1000);
  const { late } = harness.playout;
  return {
    played: joinPcm(harness.writes.filter(({ kind }) => kind === 'speech').map((write) => write.pcm)),
    mutedMs: late.noise / BYTES_PER_MS,
  };
}

/** How long it is louder than speech (ms), by blocks of 20 ms: above -10 dBFS. */
function shrillMs(pcm: Uint8Array): number {
  const samples = samplesOf(pcm);
  let ms = 0;
  for (let at = 0; at + 480 <= samples.length; at += 480) {
    const power = samples.subarray(at, at + 480).reduce((sum, sample) => sum + sample * sample, 0) / 480;
    if (power > (0.316 * 32_768) ** 2) ms += 20;
  }
  return ms;
}

function whiteNoise(level: number, seconds = 2): Uint8Array {
  const random = seededRandom(9);
  const peak = level * Math.sqrt(3) * 32_767;
  const samples = Int16Array.from({ length: seconds * 24_000 }, () => (random() * 2 - 1) * peak);
  return new Uint8Array(samples.buffer);
}

describe('ordinary sound', () => {
  it.each(MESSAGES_MS)(
    'is played bit-exact, also at its loudest, in messages of %i ms',
    async (messageMs) => {
      for (const [name, pcm] of await ordinarySound()) {
        for (const sound of [pcm, loudest(pcm), applyGain(pcm, 0.1)]) {
          const { played, mutedMs } = play(sound, messageMs);
          expect([name, mutedMs]).toEqual([name, 0]);
          expect(Buffer.compare(played, sound), name).toBe(0);
        }
      }
    },
  );

  it('is played after a sentence that was muted', () => {
    const harness = new PlayoutHarness();
    harness.take(1, 'noise', whiteNoise(0.5), true).arrive('good', 1000, true).pass(2000);
    expect(harness.playout.late.noise).toBe(2000 * BYTES_PER_MS);
    expect(harness.playout.writtenBytes).toBe(1000 * BYTES_PER_MS);
  });
});

describe('real speech in another form than was declared', () => {
  it.each(Object.entries(MALFORMED))('is muted when it comes as %s', async (_form, change) => {
    for (const [name, pcm] of await sentences()) {
      for (const messageMs of MESSAGES_MS) {
        const { played, mutedMs } = play(change(pcm), messageMs);
        expect(mutedMs, name).toBeGreaterThan(0);
        expect(shrillMs(played), `${name} in messages of ${messageMs} ms`).toBeLessThanOrEqual(160);
      }
    }
  });

  it('is muted from the moment on when a byte was lost in its middle', async () => {
    for (const [name, pcm] of await sentences()) {
      const middle = 2 * Math.floor(pcm.length / 4);
      const broken = joinPcm([pcm.subarray(0, middle), pcm.slice(middle + 1, pcm.length - 1)]);
      const { played, mutedMs } = play(broken, 320);
      expect(mutedMs, name).toBeGreaterThan(0);
      expect(shrillMs(played) - shrillMs(pcm), name).toBeLessThanOrEqual(100);
    }
  });
});

describe('white noise', () => {
  it.each([0.25, 0.4, 0.57])('is muted whole when its level is %f of full scale', (level) => {
    const noise = whiteNoise(level);
    expect(play(noise, 320)).toEqual({ played: new Uint8Array(0), mutedMs: 2000 });
    expect(play(noise, 20).played.length / BYTES_PER_MS).toBeLessThanOrEqual(80);
  });

  it('is played when it is as soft as breath', () => {
    expect(play(whiteNoise(0.1), 320).mutedMs).toBe(0);
  });

  it('without a name is muted, and the next sentence without a name is not', () => {
    const harness = new PlayoutHarness();
    harness.take(1, '', whiteNoise(0.5, 1)).pass(1500);
    expect(harness.playout.writtenBytes).toBe(0);
    harness.arrive('', 500).pass(1000);
    expect(harness.playout.writtenBytes).toBe(500 * BYTES_PER_MS);
  });

  it('of many sentences leaves no more memory than their number allows', () => {
    const harness = new PlayoutHarness();
    for (let index = 0; index < 200; index++) harness.take(1, `n${index}`, whiteNoise(0.5, 0.1));
    expect(harness.playout.utterances).toEqual([]);
    expect(harness.playout.unwanted.length).toBeLessThanOrEqual(64);
    expect(harness.playout.queuedBytes).toBe(0);
  });
});
