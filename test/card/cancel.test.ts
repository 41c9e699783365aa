import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { samplesOf, toPcm } from '../../src/sound/pcm.ts';
import { interpreter, noise, visitors as recorded } from '../acoustics.ts';
import { type BuiltThread, buildThread } from '../adapters/echo/thread.ts';
import { GOALS, judgeEcho, judgeVisitor } from '../echo/judge.ts';
import { BLOCK_SAMPLES, PLAYED_DB, type Span } from '../echo/perform.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { atLevel, mixIn, speechLevelDb } from '../voices/room.ts';
import { visitors } from './agent-on-a-card.ts';
import { type Around, type CancellingLane, openCancellingLane, type Said } from './cancelling-lane.ts';
import { type Card, openRack, type Rack } from './card.ts';
import { cardNow, clock, RATE_HZ, speak, until } from './card-lane.ts';
import type { CardEvent } from './card-side.ts';
import { babble, findOnset, lastSound } from './sound.ts';

const { rack, missing } = await openRack();
rack?.use();
afterAll(() => rack?.close());

const title = `echo on a virtual card${missing === null ? '' : `: skipped, ${missing}`}`;
const ROOM_DB = -62;
/** Time in which the loudspeaker plays one sentence after the other (s). */
const SECONDS = 62;
const PAUSE_MS = 500;
/** Time in which the visitor talks over it (s). */
const VISITS_S = [16, 42];
const VISIT_S = 10;
/** Smallest number of judged sentences without and with a visitor; fewer are whole while the player is stopped. */
const LEAST = { alone: 5, visited: 4 };
const LEAST_HELD_UP = { alone: 4, visited: 3 };
/** Total stall of this process (ms) above which the sound cannot be continuous. */
const BUSY_MS = 500;
const HELD_UP_MS = 250;
const TRIES = 3;
/** Delay of an interruption on a busy machine (ms). */
const LATE_MS = 20;

interface Path {
  readonly id: string;
  readonly delayMs: number;
  readonly gainDb: number;
  readonly ppm: number;
  readonly holdUpEvery?: number;
}

const PATHS: readonly Path[] = [
  { id: 'Near', delayMs: 25, gainDb: -20, ppm: 0 },
  { id: 'HeldUp', delayMs: 120, gainDb: -12, ppm: 300, holdUpEvery: 4 },
  { id: 'FarApart', delayMs: 280, gainDb: 0, ppm: -300 },
];

/** Results for one echo path. */
interface Evening {
  readonly path: Path;
  readonly card: Card;
  readonly lane: CancellingLane;
  readonly around: Around;
  readonly said: Said[];
}

let people: Float32Array;
let service: Float32Array;
let sentences: { start: number; end: number }[];
let thread: BuiltThread;
let evenings: readonly Evening[];
const stalls = watchStalls();
let keptMs = 0;

/** All computation happens before or after playing: during it, it would cause underruns. */
beforeAll(async () => {
  if (rack === null) return;
  people = await recorded();
  service = interpreter(people, { shift: 0.8, beginS: 0 });
  atLevel(service, PLAYED_DB, speechLevelDb(service));
  ({ sentences } = await visitors());
  thread = await buildThread();
  const begun = [];
  for (const path of PATHS) begun.push(await prepare(path, rack));
  const before = stalls.ms();
  evenings = await Promise.all(begun.map(spend));
  keptMs = stalls.ms() - before;
});
afterAll(() => thread?.remove());

async function prepare(path: Path, { insert }: Rack) {
  const { id, delayMs, gainDb, ppm } = path;
  const around = aroundOf(gainDb);
  const sound = samplesOf(toPcm(around.room.map((sample, at) => sample + (around.visitor[at] ?? 0))));
  const card = await insert({ id, capture: { sound }, playback: { ppm }, acoustic: { delayMs, gainDb } });
  return { path, card, around };
}

async function spend({ path, card, around }: Awaited<ReturnType<typeof prepare>>): Promise<Evening> {
  const lane = await openCancellingLane(card.device, thread.url);
  await sleep(1500);
  const [endsAt, said] = [clock.now() + SECONDS * 1000, [] as Said[]];
  for (let index = 0; clock.now() < endsAt; index++) {
    const { start = 0, end = 2 } = sentences[index % sentences.length] ?? {};
    const [from, to] = [start, end].map((at) => Math.round(at * RATE_HZ));
    const saying = lane.say(service.slice(from, to));
    if (path.holdUpEvery !== undefined && index % path.holdUpEvery === 2) await holdUp(card);
    said.push(await saying);
    await sleep(PAUSE_MS);
  }
  await lane.close();
  return { path, card, lane, around, said };
}

/** A room with a visitor who is as loud as the echo. */
function aroundOf(gainDb: number): Around {
  const room = noise(SECONDS * 1.5 * RATE_HZ, ROOM_DB, 5);
  const visitor = new Float32Array(room.length);
  const visited: Span[] = [];
  const said = atLevel(people.slice(), PLAYED_DB + gainDb, speechLevelDb(people));
  for (const begin of VISITS_S) {
    mixIn(visitor, said.subarray(0, VISIT_S * RATE_HZ), begin * RATE_HZ);
    for (const { start, end } of sentences.filter((one) => one.start < VISIT_S)) {
      const [from, until] = [start, Math.min(VISIT_S, end)].map(
        (at) => ((begin + at) * RATE_HZ) / BLOCK_SAMPLES,
      );
      visited.push({ from: Math.floor(from ?? 0), until: Math.ceil(until ?? 0) });
    }
  }
  return { room, visitor, visited };
}

/** Sentences without an underrun since the start of the previous sentence. */
function unbroken(said: readonly Said[], xruns: readonly number[]): Said[] {
  return said.filter(({ until }, index) => {
    const since = said[index - 1]?.from ?? Number.NEGATIVE_INFINITY;
    return !xruns.some((at) => at >= since && at <= until);
  });
}

/** Stops the player in the middle of a sentence until its card runs out of sound. */
async function holdUp({ playback }: Card): Promise<void> {
  await sleep(700);
  const pid = (await playback.log()).findLast(({ event }) => event === 'start')?.pid;
  if (pid === undefined) throw new Error('there is no player');
  process.kill(pid, 'SIGSTOP');
  await sleep(HELD_UP_MS);
  process.kill(pid, 'SIGCONT');
}

const underruns = (log: readonly CardEvent[]): number[] => {
  // The card uses the time of `process.hrtime`.
  const zero = Number(process.hrtime.bigint()) / 1e6 - clock.now();
  return log.filter(({ event }) => event === 'xrun').map(({ atMs }) => atMs - zero);
};

/**
 * Runs the real arecord and aplay with diverging clocks, the shipped pipelines and the canceller in its thread, in real time. The
 * judge is that of `npm run echo`.
 */
describe(title, needs(missing), () => {
  it.for(PATHS)(
    'is removed from every sentence, but not the visitor: $delayMs ms, $gainDb dB, $ppm ppm ($id)',
    async (path, { expect, annotate, skip }) => {
      const evening = evenings.find((one) => one.path === path);
      if (evening === undefined) throw new Error('there is no recording');
      const { card, lane, around, said } = evening;
      const [capture, playback] = await Promise.all([card.capture.log(), card.playback.log()]);
      const xruns = underruns(playback);
      const later = unbroken(said, xruns).filter((one) => one !== said[0]);
      const judged = lane.judged(around, later, path.delayMs);
      const alone = judgeEcho(judged);
      const visit = judgeVisitor(judged);
      const talkedOver = later.length - alone.length;
      await annotate(
        `${alone.map(({ lossDb, leftDb, isGood }) => `${lossDb.toFixed(0)} dB (${leftDb.toFixed(0)})${isGood ? '' : '!'}`).join(', ')}; ` +
          `visitor ${((visit?.sent ?? 0) * 100).toFixed(1)} %, ${visit?.levelDb.toFixed(1)} dB in ${talkedOver}; ` +
          `${xruns.length} underruns, ${lane.runs.size} runs, stalled for ${keptMs.toFixed(0)} ms`,
      );
      const fallbacks = lane.told.filter(({ kind }) => kind === 'echo_fallback');
      const bad = alone.filter(({ isGood }) => !isGood);
      const least = path.holdUpEvery === undefined ? LEAST : LEAST_HELD_UP;
      const wrong = {
        ...(fallbacks.length > 0 && { fallbacks }),
        // The captured sound is compared with the played sound sample by sample.
        ...(capture.some(({ event }) => event === 'xrun') && { overruns: true }),
        ...(capture.filter(({ event }) => event === 'start').length !== 1 && { starts: true }),
        ...(path.holdUpEvery !== undefined && xruns.length < 3 && { underruns: xruns.length }),
        ...((alone.length < least.alone || talkedOver < least.visited) && {
          judged: [alone.length, talkedOver],
        }),
        ...(bad.length > 0 && { bad }),
        ...((visit?.sent ?? 0) < GOALS.sent && { sent: visit?.sent }),
        ...(Math.abs(visit?.levelDb ?? -99) > GOALS.levelDb && { levelDb: visit?.levelDb }),
      };
      const busyMs = Math.max(keptMs, ...card.capture.lateMs(), ...card.playback.lateMs());
      const isBusy = busyMs > BUSY_MS && Object.keys(wrong).length > 0;
      skip(isBusy, `this machine is too busy (${busyMs.toFixed(0)} ms): ${JSON.stringify(wrong)}`);
      expect(wrong).toEqual({});
    },
  );

  /** Interrupts a sentence, and plays another. */
  async function interrupt({ insert }: Rack, id: string) {
    const card = await insert({ id });
    const { playback, say, faults } = await speak(card.device);
    playback.runOn?.(true);
    await until('played silence', async () => (await card.playback.sound()).length > RATE_HZ / 2);
    const before = (await card.playback.log()).length;
    say(babble(4 * RATE_HZ, 1));
    await sleep(1200);
    const interruptedAt = cardNow();
    const ends = playback.flush();
    const next = babble(RATE_HZ, 2);
    await sleep(400);
    say(next);
    await sleep(1700);
    const events = (await card.playback.log()).slice(before).map(({ event }) => event);
    await playback.close();
    const [timeline, epoch] = [await card.playback.sound(), await card.playback.epoch()];
    const onset = findOnset(timeline, next);
    const ranOutMs = (epoch?.atMs(lastSound(timeline.subarray(0, onset))) ?? 0) - interruptedAt;
    const isWhole = findOnset(timeline, next.subarray(-64), onset) === onset + next.length - 64;
    return { ends, ranOutMs, isWhole, events, faults };
  }

  it('plays at most 180 ms of an interrupted sentence, and continues with the next', async ({
    expect,
    annotate,
    skip,
  }) => {
    if (rack === null) return;
    const before = stalls.ms();
    let heard = await interrupt(rack, 'RunsOut');
    // A player that got its sound too late has an underrun: try again, a few times.
    for (let again = 1; heard.events.includes('xrun') && again < TRIES; again++)
      heard = await interrupt(rack, `RunsOut${again}`);
    const { ends, ranOutMs, isWhole, events, faults } = heard;
    await annotate(`silent ${ranOutMs.toFixed(0)} ms after; ${events.join(' ')}`);
    const waitedMs = (): number => stalls.ms() - before;
    judgeSound(skip, { ms: waitedMs, longestMs: waitedMs }, BUSY_MS / 2, () => {
      // The player was not restarted, and its clock is continuous.
      expect({ events, faults, isWhole }).toEqual({ events: [], faults: [], isWhole: true });
      expect(ends).toBeGreaterThan(clock.now() - 5000);
      expect(ranOutMs).toBeGreaterThan(0);
      expect(ranOutMs).toBeLessThan(180 + LATE_MS);
    });
  });
});
