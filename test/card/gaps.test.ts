import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, it } from 'vitest';
import { createChunker } from '../../src/sound/chunker.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { type CardOptions, openRack } from './card.ts';
import { listen, placesOf, RATE_HZ, soundedBy, speak, stallsWith, until } from './card-lane.ts';
import type { CardEvent } from './card-side.ts';
import { babble, differsAt, findOnset, lastSound, spread } from './sound.ts';

const { rack, missing } = await openRack();
rack?.use();
afterAll(() => rack?.close());

const title = `gaps in the sound of a virtual card${missing === null ? '' : `: skipped, ${missing}`}`;
/** Length of a gap (ms): longer than the device's buffer, much shorter than a hang for the drivers. */
const GAP_MS = 700;
const CHUNK_SAMPLES = 0.32 * RATE_HZ;

/** Overruns and underruns: the real programs recover, and the drivers notice them. */
describe.concurrent(title, needs(missing), () => {
  it('continues after an overrun, counts it, and measures the gap', async ({ expect, annotate, skip }) => {
    const stalls = watchStalls();
    const sound = babble(120 * RATE_HZ, 4);
    const card = await insert({ id: 'Overrun', capture: { sound } });
    const capturePipeline = await listen(card.device);
    await until('a second of sound', () => capturePipeline.seconds() >= 1);
    // The device is not read for less than the time of a hang, and its buffer is lost.
    card.capture.control('stall');
    await sleep(GAP_MS);
    card.capture.control('xrun=1');
    await until('the overrun', async () => count(await card.capture.log(), 'xrun') === 1);
    const before = capturePipeline.heard.length;
    await until('another second', () => capturePipeline.heard.length > before + 3);
    await capturePipeline.capture.close();
    const inAll = stallsWith(stalls, card, capturePipeline.faults);
    const pieces = placesOf(capturePipeline, sound);
    expect(pieces.unknown).toBe(0);
    expect(pieces.lostMs).toBeGreaterThan(GAP_MS);
    // A stalled test makes the gap longer.
    judgeSound(skip, inAll, GAP_MS / 2, () => {
      expect(capturePipeline.faults).toEqual([]);
      expect(capturePipeline.capture.figures).toMatchObject({ xruns: 1, failures: 0, hangs: 0 });
      expect(pieces.lostMs).toBeLessThan(GAP_MS + 2500);
    });

    // The chunks of the lane have correct times, also after missing sound.
    const chunker = createChunker({ chunkSamples: CHUNK_SAMPLES, rateHz: RATE_HZ });
    const chunks = capturePipeline.heard.flatMap(({ pcm, capturedAt }) =>
      chunker.push(new Uint8Array(pcm.slice().buffer), capturedAt),
    );
    const epoch = await card.capture.epoch();
    const errors = chunks.flatMap(({ pcm, beganAt, capturedAt }) => {
      const samples = samplesOf(pcm);
      const [from, tail] = [findOnset(sound, samples), findOnset(sound, samples.slice(-64))];
      if (epoch === null || tail < 0) return [];
      const atEnd = capturedAt - epoch.atMs(tail + 64);
      // The chunk with the gap may be one piece of arecord: only its end time is known.
      return tail + 64 - from === CHUNK_SAMPLES ? [beganAt - epoch.atMs(from), atEnd] : [atEnd];
    });
    await annotate(`lost ${pieces.lostMs.toFixed(0)} ms; chunks are off by ${spread(errors)} ms`);
    // No chunk may be off by the gap; if the gap were not noticed, all later chunks would be.
    judgeSound(skip, inAll, GAP_MS / 4, () => {
      expect(errors.length).toBeGreaterThanOrEqual(2 * chunks.length - 2);
      for (const ms of errors) expect(Math.abs(ms)).toBeLessThan(GAP_MS / 2);
    });
  });

  it('loses nothing of a sentence with an underrun, and counts it', async ({ expect, skip }) => {
    const stalls = watchStalls();
    const card = await insert({ id: 'Dry' });
    const playbackPipeline = await speak(card.device);
    const sentence = babble(3 * RATE_HZ, 15);
    playbackPipeline.say(sentence);
    const hasSounded = async (samples: number): Promise<boolean> =>
      playbackPipeline.faults.length > 0 || (await soundedBy(card)).length >= samples;
    for (const word of ['xrun=1', 'xrun=2'] as const) {
      const before = (await soundedBy(card)).length;
      await until('more of the sentence', () => hasSounded(Math.min(before + RATE_HZ / 2, sentence.length)));
      card.playback.control(word);
    }
    await until('the end of the sentence', () => hasSounded(sentence.length));
    const [sounded, figures] = [await soundedBy(card), playbackPipeline.playback.figures];
    const dry = count(await card.playback.log(), 'xrun');
    // A stalled test gives its order after the end of the sentence; a stalled player counts as hung.
    judgeSound(skip, stallsWith(stalls, card, playbackPipeline.faults), GAP_MS / 2, () => {
      expect(differsAt(sounded, sentence)).toBe(-1);
      expect(playbackPipeline.faults).toEqual([]);
      expect(figures).toMatchObject({ failures: 0, hangs: 0, starts: 1 });
      // A slow machine may add further underruns.
      expect(figures?.xruns).toBeGreaterThanOrEqual(2);
      expect(figures?.xruns).toBeLessThanOrEqual(dry);
    });
    await playbackPipeline.playback.close();
  });

  it.for([
    { id: 'Middle', afterMs: 1000 },
    // By then the rest of the sentence has been written.
    { id: 'LastWords', afterMs: 2610 },
  ])(
    'continues at the same place after a player was stopped: $id',
    async ({ id, afterMs }, { expect, annotate, skip }) => {
      const stalls = watchStalls();
      let dry = 0;
      // A stalled test may come too late, when the device has the whole sentence. A player that stalls long enough counts as hung,
      // which is another test.
      for (let attempt = 1; attempt <= 5 && dry === 0; attempt++) {
        const card = await insert({ id: `${id}${attempt}` });
        const playbackPipeline = await speak(card.device);
        const sentence = babble(3 * RATE_HZ, attempt);
        const promised = playbackPipeline.say(sentence) + 3000;
        const hasSounded = async (samples: number): Promise<boolean> =>
          playbackPipeline.faults.some(({ code }) => code === 'hung') ||
          (await soundedBy(card)).length >= samples;
        await until('a part of the sound', () => hasSounded(afterMs * (RATE_HZ / 1000)), undefined, 10);
        const pid = (await card.playback.log())[0]?.pid ?? 0;
        signal(pid, 'SIGSTOP');
        await sleep(GAP_MS);
        signal(pid, 'SIGCONT');
        await until('the end of the sentence', () => hasSounded(sentence.length));
        const figures = playbackPipeline.playback.figures;
        await playbackPipeline.playback.close();
        if (figures?.hangs !== 0) continue;
        // Nothing is lost: the sound before and after the gap is the sentence.
        expect(differsAt(await soundedBy(card), sentence)).toBe(-1);
        dry = figures.xruns;
        if (dry === 0) continue;
        // The lane knows the end of the sound.
        const ended = (await card.playback.epoch())?.atMs(lastSound(await card.playback.sound())) ?? 0;
        const [wasOff, isOff] = [ended - promised, ended - playbackPipeline.measured()];
        await annotate(
          `it ended ${wasOff.toFixed(0)} ms late, ${isOff.toFixed(0)} ms from what was measured`,
        );
        // The driver cannot measure a further gap after its last measurement.
        judgeSound(skip, stalls, GAP_MS / 4, () => {
          expect(wasOff).toBeGreaterThan(GAP_MS / 2);
          expect(Math.abs(isOff)).toBeLessThan(wasOff / 2);
        });
      }
      judgeSound(skip, stalls, GAP_MS / 4, () => expect(dry).toBeGreaterThan(0));
    },
  );
});

function insert(options: CardOptions) {
  if (rack === null) throw new Error('the virtual cards are missing');
  return rack.insert(options);
}

const count = (log: readonly CardEvent[], event: CardEvent['event']): number =>
  log.filter((entry) => entry.event === event).length;

/** Sends a signal to a process that may have been killed as hung. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
