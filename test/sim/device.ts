/** The device: a process that can be started, stopped and killed, with its ports. */
import { Agent } from '../../src/device/agent.ts';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import type { LaneState } from '../../src/device/lane/state/lane-state.ts';
import type { Playback } from '../../src/ports/audio.ts';
import type { Log } from '../../src/ports/log.ts';
import type { OpenStream } from '../../src/ports/stream.ts';
import type { Config } from '../../src/protocol/config.ts';
import type { Phase } from '../../src/protocol/phases.ts';
import type { CreateEchoDetector } from '../../src/sound/echo-detector.ts';
import { createEnergyDetector } from '../../src/sound/energy-detector.ts';
import type { Broker } from './broker.ts';
import { createCancellers, type SimCancellers } from './canceller.ts';
import type { Loudspeaker, Microphone } from './devices.ts';
import type { Dice } from './dice.ts';
import { createProcessClock, type ProcessClock, type SimClock } from './sim-clock.ts';
import { readTicks } from './sound.ts';
import type { StateDisk } from './state-files.ts';
import type { Violations } from './violations.ts';

/** One life of the process. */
interface Life {
  readonly process: ProcessClock;
  readonly agent: Agent;
  readonly cuts: Set<() => void>;
  readonly cancellers: SimCancellers;
  stopping: boolean;
}

export interface Device {
  /** The first lane of the running process; null while there is none. */
  readonly lane: LaneState | null;
  /** That lane's phase. */
  readonly phase: Phase | null;
  laneOf(id: string): LaneState | null;
  readonly isStopping: boolean;
  start(): void;
  /** Ends the process without a shutdown. */
  kill(): void;
  /** SIGTERM: the agent has ten seconds. */
  stop(): void;
  /** Makes the echo canceller fail. */
  breakCanceller(): void;
  /** The configuration file has changed, and a running process reads it again (SIGHUP). */
  reread(config: Config): void;
}

export interface DeviceSetup {
  readonly clock: SimClock;
  readonly dice: Dice;
  readonly config: Config;
  readonly broker: Broker;
  /** Devices by the lane's id. */
  readonly rooms: ReadonlyMap<string, { readonly speaker: Loudspeaker; readonly microphone: Microphone }>;
  readonly violations: Violations;
  readonly roomAmplitude: number;
  /** Dice of the cancellers: separate, so that worlds without cancellers draw the same. */
  readonly cancellerDice: Dice;
  /** Draws how late timers fire; null: never late. */
  readonly latenessDice: Dice | null;
  /** The disk with the state files; null: none. */
  readonly disk: () => StateDisk | null;
  /** Changes the agent's ports. */
  readonly spoil: (world: AgentDeps) => AgentDeps;
  openWire(isAlive: () => boolean, enlist: (cut: () => void) => void): OpenStream;
  /** Whether a port has thrown. */
  hasThrown(): boolean;
  onStep(step: LaneStep): void;
  /** Called before the first step of a life. */
  onStart(): void;
  onEnd(): void;
  onFinale(): void;
}

const ECHO_TICKS_PER_MEASURE = 100;
const ECHO_HERE = { delayMs: 0, gainDb: -30, confidence: 0.9 };

/** Finds the echo by the mark in the simulated sound: real detection would cost more than the rest of the agent. */
const createEarForEcho: CreateEchoDetector = () => {
  let heard = 0;
  return {
    played() {},
    flushed() {},
    late() {},
    hear(pcm) {
      const sound = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);
      heard += readTicks(sound, () => {}).echoes;
      if (heard < ECHO_TICKS_PER_MEASURE) return null;
      heard = 0;
      return ECHO_HERE;
    },
  };
};

/** Time (ms) from SIGTERM until the supervisor kills the process. */
const STOP_LIMIT_MS = 10_000;
const SETTLE_MS = 50;
const DEFECT = /^a defect of the program: .* (threw|rejected)/;
const QUIET: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Closes the loudspeaker of a dead process: ALSA drops the sound that has not been played. */
function silence(playback: Playback): Promise<void> {
  playback.flush();
  return playback.close();
}

export function createDevice(setup: DeviceSetup): Device {
  const { clock, dice, violations } = setup;
  let life: Life | null = null;
  let { config } = setup;

  const end = (ended: Life): void => {
    ended.process.kill();
    for (const cut of ended.cuts) cut();
    clock.settle();
    if (life === ended) life = null;
    setup.onEnd();
  };

  const stateFiles = (
    process: ProcessClock,
  ): Pick<AgentDeps, 'commandFile' | 'desiredFile' | 'budgetFile'> => {
    const disk = setup.disk();
    if (disk === null) return {};
    return {
      commandFile: disk.open('commands', process),
      desiredFile: disk.open('desired', process),
      budgetFile: disk.open('budget', process),
    };
  };
  const makeWorld = (process: ProcessClock, cuts: Set<() => void>, cancellers: SimCancellers): AgentDeps => ({
    clock: process,
    log: {
      ...QUIET,
      error(fields, sentence) {
        // A port that throws on purpose only causes a log line.
        if (DEFECT.test(sentence) && setup.hasThrown()) return;
        // A fault of the broker: another client connected with this device's name.
        if ((fields as { problem?: string }).problem === 'taken_over') return;
        violations.add('log', `${sentence} ${JSON.stringify(fields)}`);
      },
    },
    version: '0.0.0',
    openBus: setup.broker.connectDevice(process),
    openStream: setup.openWire(
      () => process.alive,
      (cut) => cuts.add(cut),
    ),
    createVoiceDetector: createEnergyDetector,
    openAudio(lane) {
      const room = setup.rooms.get(lane.id);
      if (room === undefined) throw new Error(`unknown lane ${lane.id}`);
      return {
        openCapture(sink) {
          const opening = room.microphone.open(sink);
          cuts.add(() => void opening.then((capture) => capture.close()));
          return opening;
        },
        openPlayback(sink) {
          const opening = room.speaker.open(sink);
          cuts.add(() => void opening.then(silence));
          return opening;
        },
        createEchoDetector: createEarForEcho,
      };
    },
    openEchoCanceller: cancellers.open,
    ...stateFiles(process),
    random: () => dice.next(),
    randomHash: () => `h${Math.floor(dice.next() * 2 ** 48).toString(36)}xxxxxxxxxxxx`,
  });

  return {
    get lane() {
      return life?.agent.lanes[0]?.state ?? null;
    },
    get phase() {
      return life?.agent.lanes[0]?.phase ?? null;
    },
    laneOf: (id) => life?.agent.lanes.find((lane) => lane.id === id)?.state ?? null,
    get isStopping() {
      return life?.stopping === true;
    },
    start() {
      if (life !== null) return;
      const process = createProcessClock(clock, setup.latenessDice?.next());
      const cuts = new Set<() => void>();
      const cancellers = createCancellers(process, setup.cancellerDice, setup.roomAmplitude);
      const world = makeWorld(process, cuts, cancellers);
      setup.onStart();
      const agent = new Agent(config, setup.spoil(world));
      const mine: Life = { process, agent, cuts, cancellers, stopping: false };
      life = mine;
      agent.watch((step) => {
        if (process.alive) setup.onStep(step);
      });
      void agent.start();
      clock.settle();
    },
    kill() {
      if (life !== null) end(life);
    },
    breakCanceller: () => life?.cancellers.fail(),
    reread(next) {
      config = next;
      life?.agent.apply(next);
    },
    stop() {
      const mine = life;
      if (mine === null || mine.stopping) return;
      mine.stopping = true;
      let done = false;
      // A shutdown is a chain of promises between timers: run their callbacks until it is done.
      const attend = (): void => {
        clock.settle();
        if (!done && mine.process.alive) clock.at(clock.now() + SETTLE_MS, attend);
      };
      attend();
      mine.agent.stop().then(
        () => {
          done = true;
          if (!mine.process.alive) return;
          violations.check(
            'stop',
            [...setup.rooms.values()].every(({ microphone }) => microphone.openCount === 0),
            () => 'the microphone is still open after the shutdown',
          );
          setup.onFinale();
          end(mine);
        },
        (error: unknown) => violations.add('stop', `the shutdown failed: ${String(error)}`),
      );
      clock.settle();
      clock.at(clock.now() + STOP_LIMIT_MS, () => {
        if (done || !mine.process.alive) return;
        violations.add('stop', 'the agent did not end within 10 s of SIGTERM');
        end(mine);
      });
    },
  };
}
