import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, it } from 'vitest';
import { loadWav } from '../../src/adapters/audio/sound-source.ts';
import { raiseVoices, recordNear } from '../../src/cli/demo/desk-sound.ts';
import { openEnvironment } from '../../src/cli/demo/environment.ts';
import recording from '../../src/cli/demo/visitor.json' with { type: 'json' };
import { Agent } from '../../src/device/agent.ts';
import { createMachineDeps } from '../../src/device/machine-deps.ts';
import type { Log } from '../../src/ports/log.ts';
import { configSchema } from '../../src/protocol/config.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { inProcessPrograms } from '../e2e/in-process.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { RECORDING } from './agent-on-a-card.ts';
import { type Card, type CardOptions, openRack } from './card.ts';
import { cardNow, clock, RATE_HZ, until } from './card-lane.ts';
import type { Epoch } from './card-side.ts';
import { findUtterances } from './sound.ts';

const { rack, missing } = await openRack();
rack?.use();
afterAll(() => rack?.close());

/** The emulator tells people apart by their voices: the low one speaks the first language. */
const CLERK = 'man';
/** Sentences of the recording: the visitor and the clerk in turn. */
const ORDER = [0, 1, 2, 4, 3, 6, 7, 1, 0, 4];
const isVisitor = (speaker: string): boolean => speaker !== CLERK;
/** Until the session runs (s). */
const LEAD_S = 9;
/** For the translation and its sound (s), and behind the first sentence for the notice in both languages. */
const PAUSE_S = 9;
const NOTICE_S = 16;
/** Stall (ms): half of a microphone's buffer. */
const LONG_STALL_MS = 1000;

interface Said {
  readonly speaker: string;
  readonly start: number;
  readonly end: number;
}

/** What people say at the desk, and when (s). */
async function conversation(): Promise<{ sound: Int16Array; said: readonly Said[] }> {
  const { pcm } = await loadWav(RECORDING, { rateHz: RATE_HZ });
  const voices = raiseVoices(samplesOf(pcm), RATE_HZ, recording.sentences, isVisitor);
  let at = LEAD_S;
  const said = ORDER.flatMap((index, turn) => {
    const sentence = recording.sentences[index];
    if (sentence === undefined) return [];
    const { speaker, start, end } = sentence;
    const one = { speaker, start: at, end: at + end - start, from: start };
    at = one.end + PAUSE_S + (turn === 0 ? NOTICE_S : 0);
    return [one];
  });
  const sound = new Int16Array(Math.ceil(at * RATE_HZ));
  for (const { start, end, from } of said) {
    const first = Math.round(from * RATE_HZ);
    const last = first + Math.round((end - start) * RATE_HZ);
    sound.set(voices.subarray(first, last), Math.round(start * RATE_HZ));
  }
  return { sound, said };
}

const { sound, said } = await conversation();
const near = (isNear: (speaker: string) => boolean): Int16Array => recordNear(sound, RATE_HZ, said, isNear);
/** Before anybody speaks, a microphone has its own noise: digital silence is not a measure of a room. */
const HUSH_S = 30;
const hush = recordNear(new Int16Array(HUSH_S * RATE_HZ), RATE_HZ, [], () => true);
const lane = (id: string, microphone: Card, loudspeaker: Card, more: object) => ({
  id,
  capture: { device: microphone.device },
  playback: { device: loudspeaker.device, normalize: false },
  source: 'en',
  targets: ['es'],
  standbyAfter: 0,
  ...more,
});

interface Microphone {
  readonly id: string;
  readonly card: Card;
  readonly hears: Int16Array;
}

/** Lets the people speak: all microphones hear them at the same time, although each card has started at its own. */
async function speakTo(microphones: readonly Microphone[]): Promise<Epoch> {
  const epochs: Epoch[] = [];
  for (const { card } of microphones) {
    await until('the microphone', async () => (await card.capture.epoch()) !== null, 60_000);
    const epoch = await card.capture.epoch();
    if (epoch !== null) epochs.push(epoch);
  }
  const [first] = epochs.toSorted((one, other) => other.startMs - one.startMs);
  if (first === undefined || rack === null) throw new Error('no microphone');
  for (const [index, { id, hears }] of microphones.entries()) {
    const early = Math.round((first.startMs - (epochs[index]?.startMs ?? 0)) * first.framesPerMs);
    const heard = new Int16Array(early + hears.length);
    heard.set(hears, early);
    writeFileSync(join(rack.folder, `${id}.capture.pcm`), new Uint8Array(heard.buffer));
  }
  return first;
}

/** Runs a kiosk from its first to its last word, with the keys that people press. */
async function talk(
  lanes: readonly object[],
  rooms: readonly object[],
  microphones: readonly Microphone[],
  keys: boolean,
) {
  const programs = inProcessPrograms({ setupMs: 500 });
  const environment = await openEnvironment(programs);
  const noise = (): void => {};
  const log: Log = { trace: noise, debug: noise, info: noise, warn: noise, error: noise };
  const config = configSchema.parse({
    device: { id: 'kiosk-01', tenant: 'demo' },
    mqtt: { url: environment.brokerUrl },
    owner: { publicKeyFiles: [environment.ownerKeyFile] },
    service: { hosts: [new URL(environment.serviceUrl).host] },
    lanes,
    rooms,
  });
  const agent = new Agent(config, await createMachineDeps(config, clock, log, {}));
  const heard: string[] = [];
  const spoken: string[] = [];
  /** Lanes that have spoken the notice. */
  const notices: string[] = [];
  let conversations = 0;
  agent.watch(({ lane: id, event, effects }) => {
    if (event.type === 'conversation' && event.conversation !== null) conversations += 1;
    for (const effect of effects) {
      if (effect.type === 'say') notices.push(id);
      if (effect.type !== 'caption' || !effect.caption.isFinal) continue;
      const { kind, language } = effect.caption;
      if (kind === 'source') heard.push(`${id} ${language}`);
      else spoken.push(`${id} ${language}`);
    }
  });
  try {
    await agent.start();
    const epoch = await speakTo(microphones);
    const wait = (s: number): Promise<void> => sleep(Math.max(0, epoch.atMs(s * RATE_HZ) - cardNow()));
    for (const { speaker, start, end } of said) {
      const turn = { speaker: isVisitor(speaker) ? 'target' : 'source' };
      await wait(start - 0.15);
      if (keys) await agent.carryOut('turn', turn);
      await wait(end + 0.1);
      if (keys) await agent.carryOut('turn', { ...turn, held: false });
    }
    await wait(sound.length / RATE_HZ + 3);
    await agent.carryOut('conversation', { do: 'end' });
    return { heard, spoken, notices, conversations };
  } finally {
    await agent.stop();
    await environment.close();
  }
}

const insert = (options: CardOptions): Promise<Card> => {
  if (rack === null) throw new Error('the virtual cards are missing');
  return rack.insert(options);
};
/** Pieces of speech at a loudspeaker; chimes are shorter. */
const pieces = async (card: Card): Promise<number> =>
  findUtterances(await card.playback.sound(), RATE_HZ, 0.6).filter(({ from, to }) => to - from > RATE_HZ)
    .length;

const title = `ten sentences of two people on virtual cards${missing === null ? '' : `: skipped, ${missing}`}`;

describe.concurrent(title, needs(missing), () => {
  it.for(['auto', 'button', 'hold'])(
    'are each spoken in the other language when twoWay is %s',
    async (twoWay, { expect, annotate, skip }) => {
      const stalls = watchStalls();
      const acoustic = { delayMs: 60, gainDb: -6 };
      const card = await insert({ id: `Desk_${twoWay}`, acoustic });
      const { heard, spoken, notices, conversations } = await talk(
        [lane('desk', card, card, { twoWay })],
        [],
        [{ id: `Desk_${twoWay}`, card, hears: sound }],
        twoWay !== 'auto',
      );
      const played = await pieces(card);
      await annotate(
        `heard ${heard.join(', ')}; ${spoken.length} translated, ${notices.length} notice, ${played} pieces played`,
      );
      judgeSound(skip, stalls, LONG_STALL_MS, () => {
        const of = (visitors: string, clerks: string): string[] =>
          said.map(({ speaker }) => `desk ${isVisitor(speaker) ? visitors : clerks}`);
        expect(heard).toEqual(of('es', 'en'));
        expect(spoken).toEqual(of('en', 'es'));
        expect(conversations).toBe(1);
        expect(notices).toEqual(['desk']);
        // The notice follows the first translation without a pause.
        expect(played).toBeGreaterThanOrEqual(said.length);
      });
    },
  );

  it('are each heard by one lane, and spoken to the other person, in a room', async ({
    expect,
    annotate,
    skip,
  }) => {
    const stalls = watchStalls();
    // Each microphone stands beside the loudspeaker of its own person, which is that of the other lane.
    const clerk = await insert({
      id: 'Clerk',
      capture: { sound: hush },
      acoustic: { delayMs: 60, gainDb: -6, of: 'Visitor' },
    });
    const visitor = await insert({
      id: 'Visitor',
      capture: { sound: hush },
      acoustic: { delayMs: 60, gainDb: -6, of: 'Clerk' },
    });
    const { heard, spoken, notices } = await talk(
      [lane('clerk', clerk, clerk, {}), lane('visitor', visitor, visitor, { source: 'es', targets: ['en'] })],
      [{ id: 'counter', lanes: ['clerk', 'visitor'] }],
      [
        { id: 'Clerk', card: clerk, hears: near((one) => !isVisitor(one)) },
        { id: 'Visitor', card: visitor, hears: near(isVisitor) },
      ],
      false,
    );
    const played = [await pieces(clerk), await pieces(visitor)];
    await annotate(
      `heard ${heard.join(', ')}; ${spoken.length} translated, ${notices.length} notices, ${played.join(' and ')} pieces played`,
    );
    judgeSound(skip, stalls, LONG_STALL_MS, () => {
      expect(heard).toEqual(said.map(({ speaker }) => (isVisitor(speaker) ? 'visitor es' : 'clerk en')));
      expect(spoken.toSorted()).toEqual(
        said.map(({ speaker }) => (isVisitor(speaker) ? 'visitor en' : 'clerk es')).toSorted(),
      );
      expect(notices.toSorted()).toEqual(['clerk', 'visitor']);
      for (const count of played) expect(count).toBeGreaterThanOrEqual(said.length / 2);
    });
  });
});
