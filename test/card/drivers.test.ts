import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, it } from 'vitest';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { type Card, type CardOptions, openRack } from './card.ts';
import {
  cardNow,
  listen,
  placesOf,
  RATE_HZ,
  type Speaker,
  soundedBy,
  speak,
  stallsWith,
  until,
} from './card-lane.ts';
import {
  babble,
  differsAt,
  findOnset,
  isSound,
  lastSound,
  pitchHz,
  quantile,
  spread,
  withoutSilence,
} from './sound.ts';

const { rack, missing } = await openRack();
rack?.use();
afterAll(() => rack?.close());

const title = `the alsa drivers on a virtual card${missing === null ? '' : `: skipped, ${missing}`}`;

/** Stall (ms): half of a microphone's buffer, and half of the time after which a program counts as hung. */
const LONG_STALL_MS = 1000;
/** Stall (ms) that delays the end of stopped sound too much. */
const SHORT_STALL_MS = 200;

/** Real time on a possibly busy machine: sound must be exact; times have wide limits and are reported. */
describe.concurrent(title, needs(missing), () => {
  it('captures every sample with its time', async ({ expect, annotate, skip }) => {
    const stalls = watchStalls();
    const sound = babble(4 * RATE_HZ, 1);
    const card = await insert({ id: 'Mic', capture: { sound } });
    const capturePipeline = await listen(card.device);
    await until('3 s of sound', () => capturePipeline.seconds() >= 3);
    await capturePipeline.capture.close();
    const heard = capturePipeline.sound();
    const epoch = await card.capture.epoch();
    let frame = 0;
    const errors = capturePipeline.heard.map(({ pcm, capturedAt }) => {
      frame += pcm.length;
      return Math.abs(capturedAt - (epoch?.atMs(frame) ?? 0));
    });
    await annotate(`capture times are off by ${spread(errors)} ms`);
    const log = (await card.capture.log()).map(({ event }) => event);
    judgeSound(skip, stallsWith(stalls, card, capturePipeline.faults), LONG_STALL_MS, () => {
      expect(differsAt(heard.subarray(0, 3 * RATE_HZ), sound.subarray(0, 3 * RATE_HZ))).toBe(-1);
      expect(capturePipeline.faults).toEqual([]);
      expect(quantile(errors, 0.5)).toBeLessThan(150);
      expect(log).toEqual(['open', 'start']);
    });
  });

  it('plays every sample at the promised time', async ({ expect, annotate, skip }) => {
    const stalls = watchStalls();
    const card = await insert({ id: 'Speaker' });
    const playbackPipeline = await speak(card.device);
    const sentences = [1, 2, 3].map((seed) => babble(RATE_HZ / 2, seed));
    const promised: number[] = [];
    for (const sentence of sentences) {
      promised.push(playbackPipeline.say(sentence));
      await sleep(800);
    }
    const all = sentences.flatMap((sentence) => [...sentence]);
    const isOver = async () =>
      playbackPipeline.faults.length > 0 || (await soundedBy(card)).length >= all.length;
    await until('the whole sound', isOver);
    const [timeline, epoch] = [await card.playback.sound(), await card.playback.epoch()];
    const onsets = sentences.map((sentence) => findOnset(timeline, sentence));
    const errors = onsets.map((onset, index) => Math.abs((epoch?.atMs(onset) ?? 0) - (promised[index] ?? 0)));
    await annotate(`the promised times were off by ${spread(errors)} ms`);
    judgeSound(skip, stallsWith(stalls, card, playbackPipeline.faults), LONG_STALL_MS, () => {
      // On a busy machine an underrun may add silence to a sentence, but nothing is lost.
      expect(differsAt(withoutSilence(timeline), Int16Array.from(all))).toBe(-1);
      expect(quantile(errors, 0.5)).toBeLessThan(1000);
      expect(playbackPipeline.faults).toEqual([]);
    });
    await playbackPipeline.playback.close();
  });

  it('drops queued sound at once on request', async ({ expect, annotate, skip }) => {
    const stalls = watchStalls();
    const card = await insert({ id: 'Barge' });
    const playbackPipeline = await speak(card.device);
    const [interrupted, next] = [babble(30 * RATE_HZ, 1), babble(RATE_HZ / 2, 2)];
    playbackPipeline.say(interrupted);
    await until('a second of sound', async () => (await card.playback.sound()).length > RATE_HZ);
    const flushedAt = cardNow();
    playbackPipeline.playback.flush();
    await sleep(1500);
    const [silent, epoch] = [await card.playback.sound(), await card.playback.epoch()];
    await sayUntilHeard(playbackPipeline, card, next);
    const overrunMs = (epoch?.atMs(lastSound(silent)) ?? 0) - flushedAt;
    await annotate(`sounded on for ${overrunMs.toFixed(1)} ms`);
    judgeSound(skip, stallsWith(stalls, card, playbackPipeline.faults), SHORT_STALL_MS, () => {
      expect(overrunMs).toBeLessThan(1300);
      expect(playbackPipeline.faults).toEqual([]);
    });
    await playbackPipeline.playback.close();
  });

  it('captures again after the microphone was unplugged for 2 s', async ({ expect, annotate, skip }) => {
    const stalls = watchStalls();
    const sound = babble(120 * RATE_HZ, 6);
    const card = await insert({ id: 'LooseMic', capture: { sound } });
    const capturePipeline = await listen(card.device);
    await until('a second of sound', () => capturePipeline.seconds() >= 1);
    card.capture.control('unplug');
    const away = sleep(2000);
    await until('the loss', () => capturePipeline.faults.length > 0);
    await away;
    const replugged = cardNow();
    card.capture.control();
    const before = capturePipeline.heard.length;
    await until('sound', () => capturePipeline.heard.length > before + 4);
    await capturePipeline.capture.close();
    const backMs = (capturePipeline.heard[before]?.cameAt ?? 0) - replugged;
    const pieces = placesOf(capturePipeline, sound);
    await annotate(`back ${backMs.toFixed(0)} ms after the plug, ${pieces.lostMs.toFixed(0)} ms lost in all`);
    expect(pieces.unknown).toBe(0);
    judgeSound(skip, stallsWith(stalls, card, capturePipeline.faults), LONG_STALL_MS, () => {
      expect(capturePipeline.faults.map(({ code }) => code)).toContain('lost');
      expect(backMs).toBeLessThan(15_000);
      expect(pieces.lostMs).toBeLessThan(2000 + backMs + 2500);
    });
  });

  it('plays again after the loudspeaker was unplugged for 2 s', async ({ expect, annotate, skip }) => {
    const stalls = watchStalls();
    const card = await insert({ id: 'LooseSpeaker' });
    const playbackPipeline = await speak(card.device);
    // Only writing shows that a card is gone: this sound is long enough.
    playbackPipeline.say(babble(10 * RATE_HZ, 7));
    await until('a part of the sound', async () => (await card.playback.sound()).length > RATE_HZ / 2);
    card.playback.control('unplug');
    const away = sleep(2000);
    await until('the loss', () => playbackPipeline.faults.length > 0);
    await away;
    const replugged = cardNow();
    card.playback.control();
    await until('the report', () => playbackPipeline.backs.length > 0);
    await sayUntilHeard(playbackPipeline, card, babble(RATE_HZ / 2, 8));
    await annotate(`back ${((playbackPipeline.backs[0] ?? 0) - replugged).toFixed(0)} ms after the plug`);
    judgeSound(skip, stallsWith(stalls, card, playbackPipeline.faults), LONG_STALL_MS, () => {
      expect(playbackPipeline.faults.map(({ code }) => code)).toContain('lost');
      expect((playbackPipeline.backs[0] ?? 0) - replugged).toBeLessThan(15_000);
    });
    await playbackPipeline.playback.close();
  });

  it('restarts a microphone that hangs', async ({ expect, annotate, skip }) => {
    const stalls = watchStalls();
    const sound = babble(120 * RATE_HZ, 9);
    const card = await insert({ id: 'HungMic', capture: { sound } });
    const capturePipeline = await listen(card.device);
    await until('a second of sound', () => capturePipeline.seconds() >= 1);
    const stalled = cardNow();
    card.capture.control('stall');
    await until('the watchdog', () => capturePipeline.faults.length > 0);
    const released = cardNow();
    card.capture.control();
    const before = capturePipeline.heard.length;
    await until('sound', () => capturePipeline.heard.length > before + 4);
    await capturePipeline.capture.close();
    const noticedMs = (capturePipeline.faults[0]?.atMs ?? 0) - stalled;
    const backMs = (capturePipeline.heard[before]?.cameAt ?? 0) - released;
    await annotate(`noticed after ${noticedMs.toFixed(0)} ms, back ${backMs.toFixed(0)} ms after the hang`);
    expect(capturePipeline.faults.map(({ code }) => code)).toContain('hung');
    judgeSound(skip, stallsWith(stalls, card, capturePipeline.faults), LONG_STALL_MS, () => {
      expect(noticedMs).toBeGreaterThan(1000);
      expect(backMs).toBeLessThan(15_000);
    });
    expect(placesOf(capturePipeline, sound).unknown).toBe(0);
  });

  it('restarts a loudspeaker that hangs', async ({ expect, annotate }) => {
    const card = await insert({ id: 'HungSpeaker' });
    const playbackPipeline = await speak(card.device);
    playbackPipeline.say(babble(10 * RATE_HZ, 10));
    await until('a part of the sound', async () => (await card.playback.sound()).length > RATE_HZ / 2);
    card.playback.control('stall');
    await until('the watchdog', () => playbackPipeline.faults.length > 0);
    const released = cardNow();
    card.playback.control();
    await until('the report', () => playbackPipeline.backs.length > 0);
    await sayUntilHeard(playbackPipeline, card, babble(RATE_HZ / 2, 11));
    await annotate(`back ${((playbackPipeline.backs[0] ?? 0) - released).toFixed(0)} ms after the hang`);
    expect(playbackPipeline.faults.map(({ code }) => code)).toContain('hung');
    await playbackPipeline.playback.close();
  });

  // The short sentences end before a second look at the card.
  it.for([800, 1200, 6000])(
    'notices within two seconds that a loudspeaker hangs in %d ms of sound, and reports its return',
    async (ms, { expect, annotate, skip }) => {
      const stalls = watchStalls();
      const card = await insert({ id: `Standing${ms}` });
      const speaker = await speak(card.device);
      const [first, second] = [babble(RATE_HZ / 2, 20), babble((ms * RATE_HZ) / 1000, 21)];
      // The card gets the position of the hang in advance, because this process could be late.
      const hangsAt = first.length + second.length / 4;
      card.playback.control(`stall-at=${hangsAt}`);
      speaker.say(first);
      await until('a first sentence', async () => (await soundedBy(card)).length >= first.length);
      await sleep(700);
      speaker.say(second);
      await until('the watchdog', () => speaker.faults.length > 0, undefined, 10);
      const hang = (await card.playback.log()).find(({ event }) => event === 'stall');
      const stalled = (await card.playback.epoch())?.atMs(hang?.frame ?? Number.NaN) ?? Number.NaN;
      const sounded = (await soundedBy(card)).length;
      // The card cannot be opened, either, for longer than any open timeout.
      await sleep(8000);
      const backsWhileStill = speaker.backs.length;
      const released = cardNow();
      card.playback.control();
      await until('the report', () => speaker.backs.length > 0, undefined, 10);
      const starts = (await card.playback.log()).filter(
        ({ event, atMs }) => event === 'start' && atMs > released,
      );
      const noticedMs = (speaker.faults[0]?.atMs ?? 0) - stalled;
      const backAt = speaker.backs[0] ?? 0;
      await annotate(
        `noticed after ${noticedMs.toFixed(0)} ms, back ${(backAt - released).toFixed(0)} ms after the hang, ${(backAt - (starts[0]?.atMs ?? Number.NaN)).toFixed(0)} ms after sound flowed`,
      );
      judgeSound(skip, stallsWith(stalls, card, speaker.faults), 500, () => {
        expect(sounded).toBe(hangsAt);
        expect(backsWhileStill).toBe(0);
        expect(speaker.faults.map(({ code }) => code)).toEqual(['hung']);
        expect(noticedMs).toBeGreaterThan(1300);
        // An idle machine needs 1.5 to 1.6 s.
        expect(noticedMs).toBeLessThan(2500);
        expect(starts.length).toBeGreaterThan(0);
        expect(backAt).toBeGreaterThanOrEqual(starts[0]?.atMs ?? Number.POSITIVE_INFINITY);
      });
      await speaker.playback.close();
    },
  );

  it.for(['plughw', 'hw'])(
    'captures from and plays to a simple USB card by its %s device',
    async (by, { expect }) => {
      const tone = Int16Array.from({ length: 10 * 48_000 }, (_, at) =>
        Math.round(8000 * Math.sin((2 * Math.PI * 500 * at) / 48_000)),
      );
      const id = `Poor_${by}`;
      const shape = { rateHz: 48_000, channels: 2, playback: { bufferMax: 9600 } } as const;
      const card = await insert({ id, ...shape, capture: { sound: tone, bufferMax: 9600, loop: true } });
      const [capturePipeline, playbackPipeline] = await Promise.all([
        listen(`${by}:CARD=${id}`),
        speak(`${by}:CARD=${id}`),
      ]);
      await until('2 s of sound', () => capturePipeline.seconds() >= 2);
      playbackPipeline.say(tone.filter((_, at) => at % 2 === 0).subarray(0, RATE_HZ));
      await until('a second of sound', async () => (await card.playback.sound()).length > 48_000);
      await sleep(500);
      const sounded = await card.playback.sound();
      const loud = sounded.subarray(sounded.findIndex(isSound), lastSound(sounded));
      expect(Math.abs(pitchHz(capturePipeline.sound().subarray(RATE_HZ / 2), RATE_HZ) - 500)).toBeLessThan(
        15,
      );
      expect(Math.abs(pitchHz(loud, 48_000) - 500)).toBeLessThan(15);
      expect(loud.length / 48_000).toBeGreaterThan(0.9);
      await Promise.all([capturePipeline.capture.close(), playbackPipeline.playback.close()]);
    },
  );

  it('reports a busy card, and uses it when it is free', async ({ expect, annotate }) => {
    const sound = babble(60 * RATE_HZ, 12);
    const card = await insert({ id: 'Busy', capture: { sound } });
    const other = spawn('arecord', ['-q', '-D', card.device, '-t', 'raw', '-f', 'S16_LE', '-r', '24000'], {
      env: rack?.env ?? {},
    });
    await once(other.stdout, 'data');
    const capturePipeline = await listen(card.device);
    await until('the fault', () => capturePipeline.faults.length > 0);
    other.kill('SIGKILL');
    const freed = cardNow();
    await until('sound', () => capturePipeline.heard.length > 0);
    await annotate(
      `heard ${((capturePipeline.heard[0]?.cameAt ?? 0) - freed).toFixed(0)} ms after it was free`,
    );
    await capturePipeline.capture.close();
    expect(capturePipeline.faults.map(({ code }) => code)).toContain('busy');
    expect(capturePipeline.faults[0]?.message).toContain(card.device);
  });

  it('reports a microphone that is faster than real time', async ({ annotate }) => {
    const sound = babble(60 * RATE_HZ, 13);
    const card = await insert({ id: 'Fast', capture: { sound, loop: true } });
    const capturePipeline = await listen(card.device);
    await until('a second of sound', () => capturePipeline.seconds() >= 1);
    const hurried = cardNow();
    card.capture.control('speed=6');
    // A stalled driver first reports a hang.
    const tooFast = () => capturePipeline.faults.find(({ code }) => code === 'too_fast');
    await until('the fault', () => tooFast() !== undefined);
    card.capture.control();
    const calmed = cardNow();
    const before = capturePipeline.heard.length;
    await until('sound', () => capturePipeline.heard.length > before + 4);
    await capturePipeline.capture.close();
    const [noticedMs, backMs] = [
      (tooFast()?.atMs ?? 0) - hurried,
      (capturePipeline.heard[before]?.cameAt ?? 0) - calmed,
    ];
    await annotate(
      `noticed after ${noticedMs.toFixed(0)} ms, back ${backMs.toFixed(0)} ms after it calmed down`,
    );
  });

  it('waits for a missing card', async ({ expect }) => {
    const capturePipeline = await listen('plughw:CARD=Later');
    await until('the fault', () => capturePipeline.faults.length > 0);
    await insert({ id: 'Later', capture: { sound: babble(60 * RATE_HZ, 14) } });
    await until('sound', () => capturePipeline.heard.length > 0);
    await capturePipeline.capture.close();
    expect(capturePipeline.faults.map(({ code }) => code)).toContain('not_found');
  });
});

function insert(options: CardOptions) {
  if (rack === null) throw new Error('the virtual cards are missing');
  return rack.insert(options);
}

/** Plays a sentence until it is heard. A restarting program may miss it; then it is played again. */
async function sayUntilHeard({ say, backs }: Speaker, card: Card, sentence: Int16Array): Promise<void> {
  let saidAt = -1;
  await until('the sentence', async () => {
    if (backs.length > saidAt) say(sentence);
    saidAt = backs.length;
    return findOnset(await card.playback.sound(), sentence) > 0;
  });
}
