/** A conversation of two people at a desk: the shipped agent, the emulator's core, and a room, on virtual time. */
import { Agent } from '../../../src/device/agent.ts';
import { owesSpeech } from '../../../src/device/lane/replay/owed.ts';
import type { LaneStep } from '../../../src/device/lane/runner/lane-runner.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import { hearingStream } from '../../../src/device/lane/state/session-state.ts';
import type { CaptureSink } from '../../../src/ports/audio.ts';
import type { Log } from '../../../src/ports/log.ts';
import { type Config, configSchema } from '../../../src/protocol/config.ts';
import { createEnergyDetector } from '../../../src/sound/energy-detector.ts';
import { createAnswers, NO_ANSWER_FAULTS } from '../answers.ts';
import { createBackendHost } from '../backend-host.ts';
import { createBroker } from '../broker.ts';
import { createDice } from '../dice.ts';
import { createNetwork } from '../network.ts';
import { ADDRESS } from '../operator.ts';
import { createServiceHost } from '../service-host.ts';
import { createProcessClock, createSimClock } from '../sim-clock.ts';
import { TICK_MS } from '../sound.ts';
import { createWire } from '../wire.ts';
import { createDeskCancellers } from './cancellers.ts';
import { createDeskLoudspeaker } from './loudspeaker.ts';
import { createDeskOracle, type DeskFigures } from './oracle.ts';
import { createPeople, type Form, isRoom } from './people.ts';
import { drawPlaces, hearAt } from './sounds.ts';

const LANGUAGES = ['en', 'es'] as const;
const START_MS = 1000;
/** The kiosk is live by then. */
const BEGIN_MS = 8000;
const LONGEST_MS = 400_000;
/** Longest wait for held speech after the conversation (s). */
const LONGEST_WAIT_S = 90;

function configOf(form: Form): Config {
  const echo = form === 'cancelling' ? 'cancel' : 'half-duplex';
  const lane = (id: string, more: object) => ({
    id,
    capture: { driver: 'file' as const, path: `${id}-in.wav`, sampleRate: 16_000 as const },
    playback: { driver: 'file' as const, path: `${id}-out.wav` },
    source: 'en',
    targets: ['es'],
    earcons: true,
    ...more,
  });
  const lanes = isRoom(form)
    ? [lane('first', { echo }), lane('second', { echo, source: 'es', targets: ['en'] })]
    : [lane('main', { twoWay: form })];
  return configSchema.parse({
    device: { id: ADDRESS.device, tenant: ADDRESS.tenant },
    mqtt: { url: 'mqtts://broker.sim' },
    lanes,
    ...(isRoom(form) && { rooms: [{ id: 'desk', lanes: ['first', 'second'] }] }),
  });
}

function owes({ session, backlog }: LaneState): boolean {
  const replay = hearingStream(session)?.replay;
  return (
    backlog.chunks.some(({ pcm, voiced }) => pcm !== null && voiced) || (replay != null && owesSpeech(replay))
  );
}

export interface DeskResult {
  readonly figures: DeskFigures;
  readonly problems: readonly string[];
}

export interface DeskOptions {
  readonly faults?: boolean;
  readonly choices?: Record<string, unknown>;
  readonly onLog?: (sentence: string) => void;
  readonly onStep?: (step: LaneStep, now: number) => void;
}

export async function runDesk(seed: number, form: Form, options: DeskOptions = {}): Promise<DeskResult> {
  const dice = createDice(seed);
  const clock = createSimClock(START_MS);
  clock.setWall(Date.UTC(2026, 0, 15, 9));
  const network = createNetwork(dice.fork());
  const process = createProcessClock(clock);
  const nothing = (): void => {};
  const host = createServiceHost(clock, dice.fork(), 'live', options.choices ?? {}, {
    heard: nothing,
    overrun: nothing,
    rendered: nothing,
  });
  const broker = createBroker(clock, dice.fork(), network, {
    resends: false,
    published: nothing,
    finale: nothing,
    arrived(topic, payload, more) {
      if (topic.endsWith('/token/req')) backend.hear(topic, payload, more);
    },
  });
  const answers = { ...NO_ANSWER_FAULTS };
  const backend = createBackendHost({
    clock,
    dice: dice.fork(),
    host,
    lanes: 2,
    answer: createAnswers(clock, dice, () => broker, network, answers, nothing),
    terms: { maxDurationS: dice.chance(0.3) ? dice.whole(60, 120) : null, singleUse: true, expiresS: 60 },
  });
  const config = configOf(form);
  const ids = config.lanes.map(({ id }) => id);
  const loudspeakers = ids.map(() => createDeskLoudspeaker(clock));
  const playing = loudspeakers.map((one) => one.at);
  const sinks: (CaptureSink | null)[] = ids.map(() => null);
  const problems: string[] = [];
  const note = (fields: object, sentence: string): void => {
    if (sentence.startsWith('a defect'))
      problems.push(`${sentence} ${'err' in fields ? String(fields.err) : ''}`);
    options.onLog?.(`${Math.round(clock.now())} ${sentence} ${JSON.stringify(fields)}`);
  };
  const log: Log = { trace: nothing, debug: nothing, info: note, warn: note, error: note };
  const agent = new Agent(config, {
    clock: process,
    log,
    version: '0.0.0',
    openBus: broker.connectDevice(process),
    openStream: createWire({
      clock,
      network,
      service: host,
      isAlive: () => true,
      enlist: nothing,
      watch: {
        opening: nothing,
        unspent: nothing,
        opened: nothing,
        sent: nothing,
        delivered: nothing,
        accepted: nothing,
        pong: nothing,
        over: nothing,
      },
    }),
    createVoiceDetector: createEnergyDetector,
    openEchoCanceller: (rates, sink) => cancellers.open(rates, sink),
    openAudio(lane) {
      const index = ids.indexOf(lane.id);
      const loudspeaker = loudspeakers[index];
      if (loudspeaker === undefined) throw new Error(`unknown lane ${lane.id}`);
      return {
        openCapture(sink) {
          clock.settle();
          sinks[index] = sink;
          return Promise.resolve({ close: () => Promise.resolve() });
        },
        openPlayback: (sink) => loudspeaker.open(sink),
        // Half-duplex does not depend on it.
        createEchoDetector: () => ({ played: nothing, flushed: nothing, late: nothing, hear: () => null }),
      };
    },
    random: () => dice.next(),
    randomHash: () => `h${Math.floor(dice.next() * 2 ** 48).toString(36)}xxxxxxxxxxxx`,
  });
  const cancellers = createDeskCancellers(process, () => places, playing);
  const oracle = createDeskOracle(form, LANGUAGES, ids);
  agent.watch((step) => {
    oracle.step(step, clock.now());
    options.onStep?.(step, clock.now());
  });
  const people = createPeople(dice.fork(), form, BEGIN_MS);
  const places = drawPlaces(dice.fork(), isRoom(form));
  const outages: { from: number; until: number }[] = [];
  if (options.faults === true) strike();
  void agent.start();
  clock.settle();

  /** The service, or the way to it, is away for some seconds. */
  function strike(): void {
    const from = BEGIN_MS + dice.between(5000, 40_000);
    const until = from + dice.between(1000, 12_000);
    outages.push({ from, until });
    const isService = dice.chance(0.5);
    clock.at(from, () => {
      if (isService) host.stop();
      else network.blackHole = true;
    });
    clock.at(until, () => {
      host.isDown = false;
      network.blackHole = false;
    });
  }

  // Devices deliver pieces of 100 ms, each at its own times.
  const pieces = ids.map(() => ({ ticks: [] as Int16Array[], phase: dice.whole(0, 4) }));
  let keysDone = 0;
  /** People wait for the translation, and until it was spoken. */
  const isBusy = (): boolean =>
    agent.lanes.some(({ state }) => state.playout.queuedBytes > 0 || owes(state)) ||
    loudspeakers.some((one) => one.wasHeard(clock.now() - 400, clock.now() + 1));
  const beat = (tick: number): void => {
    const now = (tick + 1) * TICK_MS;
    clock.at(now, () => {
      people.tick(now, isBusy() || now < lastEnd() + 2500);
      const recent = people.utterances.slice(-4);
      for (const [index, place] of places.entries()) {
        const piece = pieces[index];
        if (piece === undefined) continue;
        piece.ticks.push(hearAt(place, tick, recent, playing));
        if (tick % 5 === piece.phase) deliver(index, piece.ticks.splice(0), now);
      }
      const due = people.keys
        .toSorted((one, other) => one.at - other.at)
        .filter(({ at }) => at <= now)
        .slice(keysDone);
      for (const { person, held } of due) {
        keysDone += 1;
        agent.lanes[0]?.post({ type: 'turn', speaker: person === 0 ? 'source' : 'target', held });
      }
      beat(tick + 1);
    });
  };
  const lastEnd = (): number => people.utterances.at(-1)?.until ?? 0;
  const deliver = (index: number, ticks: readonly Int16Array[], now: number): void => {
    const sound = new Int16Array(ticks.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const one of ticks) {
      sound.set(one, at);
      at += one.length;
    }
    sinks[index]?.frames(new Uint8Array(sound.buffer), now);
  };
  beat(START_MS / TICK_MS);
  while (!people.isOver && clock.now() < LONGEST_MS) await clock.run(clock.now() + 1000);
  // After an outage, held speech is still being sent.
  const isBehind = (): boolean => agent.lanes.some(({ state }) => state.backlog.chunks.length > 2);
  for (let waits = 0; isBehind() && waits < LONGEST_WAIT_S; waits++) await clock.run(clock.now() + 1000);
  await clock.run(clock.now() + 10_000);
  const figures = oracle.judge(
    people.utterances,
    (from, until) => loudspeakers.some((one) => one.wasHeard(from, until)),
    (from, until) => outages.some((one) => one.from < until + 3000 && one.until > from - 20_000),
  );
  return { figures, problems: [...problems, ...oracle.problems] };
}
