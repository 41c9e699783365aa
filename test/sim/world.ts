/** Assembles the simulated world: one device, its surroundings, and the oracles. */

import type { AgentDeps } from '../../src/device/deps/deps.ts';
import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import { phaseOf } from '../../src/device/lane/state/session-state.ts';
import { type Config, configSchema } from '../../src/protocol/config.ts';
import { createAnswers, NO_ANSWER_FAULTS } from './answers.ts';
import { type BackendHost, createBackendHost } from './backend-host.ts';
import { createBroker } from './broker.ts';
import { GROUPS } from './commands.ts';
import { type Connections, createConnections } from './connections.ts';
import { createDevice } from './device.ts';
import { createDice, type Dice } from './dice.ts';
import type { Stage } from './fault-targets.ts';
import { ALWAYS, type Hours } from './hours-oracle.ts';
import { speaksTo } from './lane-oracle.ts';
import { heldSince } from './losses.ts';
import { createNetwork } from './network.ts';
import { ADDRESS, createOperator } from './operator.ts';
import { createOwner, type Owner } from './owner.ts';
import { isWithoutLoudspeaker, NO_PORT_FAULTS, type PortFaults, withThrowingPorts } from './port-faults.ts';
import { createRoom, type Room } from './room.ts';
import { createServiceHost } from './service-host.ts';
import { createSimClock, type SimClock } from './sim-clock.ts';
import type { SpeechOracle } from './speech-ports.ts';
import type { StateDisk } from './state-files.ts';
import type { OnStrike } from './strikes.ts';
import type { Tallies } from './tallies.ts';
import type { Generation, Terms } from './terms.ts';
import { TICKS_PER_ROOM } from './tick-reader.ts';
import { checkTokenRequest, createCommandOracle, createTokenOracle } from './token-oracle.ts';
import { createViolations, type Violation, type Violations } from './violations.ts';
import type { Visitors } from './visitors.ts';

export interface World extends Stage {
  readonly clock: SimClock;
  readonly violations: Violations;
  readonly speech: SpeechOracle;
  readonly visitors: Visitors;
  readonly tallies: Tallies;
  /** Hash of the run: equal for two runs of one seed. */
  readonly trace: number;
  /** Since when the lane streams; null: not streaming. */
  readonly liveSince: number | null;
  /** Whether speech of that moment may be lost for lack of a stream. */
  mayLose: (at: number, lane: string) => boolean;
  /** A waiting fault has struck. */
  struck: OnStrike;
  /** Calls back when a lane starts or stops streaming. */
  onTurn(listener: (now: number, streams: boolean, lane: string) => void): void;
  /** Calls back after each step of the lane. */
  onStep(listener: (step: LaneStep, now: number) => void): void;
  /** Makes the oracles judge everything that is old enough. */
  judge(): void;
  /** Compares the unsaid speech of the whole run with the device's counts. */
  compareCounts(): void;
}

const START_MS = 1000;

/** Languages of the second lane. */
const SIDE_LANE = { source: 'it', targets: ['de'] };

/** @param changes to the first lane's configuration */
function agentConfig(
  { lane, twoLanes, commanded }: Terms,
  changes: Readonly<Record<string, unknown>>,
  { schedule, minutesPerDay }: Hours = ALWAYS,
): Config {
  const laneConfig = (id: string, more: Record<string, unknown>) => ({
    id,
    capture: { driver: 'file' as const, path: `${id}-in.wav`, sampleRate: 16_000 as const },
    playback: { driver: 'file' as const, path: `${id}-out.wav` },
    source: 'en',
    targets: ['es'],
    ...lane,
    ...more,
  });
  return configSchema.parse({
    device: { id: ADDRESS.device, tenant: ADDRESS.tenant, groups: commanded ? [...GROUPS] : [] },
    mqtt: { url: 'mqtts://broker.sim' },
    lanes: [laneConfig('main', changes), ...(twoLanes ? [laneConfig('side', SIDE_LANE)] : [])],
    schedule,
    budget: { minutesPerDay },
  });
}

/** Changes that a test may make to a run. */
export interface RunOptions {
  /** The lane cancels its echo, whatever the seed drew. */
  readonly cancels?: boolean;
  /** Generation of the draws; default: the newest. */
  readonly generation?: Generation;
  /** Changes the terms that the seed drew. */
  readonly changeTerms?: (drawn: Terms) => Terms;
  /** Two lanes in the agent, whatever the seed drew. */
  readonly twoLanes?: boolean;
  /** Only these kinds of faults. */
  readonly faults?: readonly string[] | undefined;
  /** The owner sends something in about every second phase of the lane. */
  readonly restless?: boolean;
  /** Breaks the agent on purpose. */
  readonly spoil?: (world: AgentDeps) => AgentDeps;
  /** Called with each step of the lane. */
  readonly observe?: (step: LaneStep, now: number) => void;
  /** The run ends at a violation for which this returns true. */
  readonly isEnough?: (violation: Violation) => boolean;
  /** Called for each fault when it begins. */
  readonly onFault?: (kind: string, forMs: number, now: number) => void;
}

export function createWorld(seed: number, terms: Terms, options: RunOptions = {}): World {
  const { spoil, observe } = options;
  const dice = createDice(seed);
  const cancels = terms.lane['echo'] === 'cancel';
  const clock = createSimClock(START_MS);
  const violations = createViolations(() => clock.now());
  const network = createNetwork(dice.fork());
  const answers = { ...NO_ANSWER_FAULTS };
  const ports: PortFaults = {
    ...NO_PORT_FAULTS,
    thrown: 0,
    loudspeakerThrewAt: new Map(),
  };
  const tallies: Tallies = {
    rollovers: 0,
    splits: 0,
    sessions: 0,
    standbys: 0,
    revocations: 0,
    connections: 0,
    tokenRequests: 0,
    steps: 0,
    overlapMs: 0,
    longestOverlapMs: 0,
    overlaps: 0,
  };
  const watchers: ((step: LaneStep, now: number) => void)[] = observe === undefined ? [] : [observe];
  const turns: ((now: number, streams: boolean, lane: string) => void)[] = [];
  const streaming = new Map<string, number>();
  const turn = (lane: string, streams: boolean): void => {
    if (streams === streaming.has(lane)) return;
    if (streams) streaming.set(lane, clock.now());
    else streaming.delete(lane);
    for (const listener of turns) listener(clock.now(), streams, lane);
  };
  let owner: Owner | null = null;
  let trace = 0;
  const note = (number: number): void => {
    trace = (Math.imul(trace ^ number, 0x01000193) + 0x9e37) | 0;
  };

  const host = createServiceHost(clock, dice.fork(), terms.profile, terms.choices, {
    heard: (stream, sound, running) => connections.hearing(stream).heard(stream, sound, running),
    overrun: (stream, sound) => connections.hearing(stream).overrun(sound),
    rendered: (job) => connections.hearing(job.stream).rendered(job),
  });
  const roomAt = (id: string, roomDice: Dice, index: number): Room =>
    createRoom({
      id,
      clock,
      violations,
      startAt: START_MS,
      dice: roomDice,
      mayLose: (at) => world.mayLose(at, id),
      terms: index === 0 ? terms : { ...terms, lane: { ...terms.lane, ...SIDE_LANE } },
      speechDice: createDice(seed + 2 ** 37 + index),
      firstTick: index * TICKS_PER_ROOM,
      isWithoutLoudspeaker: () => isWithoutLoudspeaker(ports, id, clock.now()),
    });
  const main = roomAt('main', dice, 0);
  const side = terms.twoLanes ? [roomAt('side', createDice(seed + 2 ** 38), 1)] : [];
  const rooms = new Map([main, ...side].map((room) => [room.id, room]));
  const { speaker, microphone, visitors, speech } = main;
  const roomOf = (lane: string): Room => rooms.get(lane) ?? main;
  const tokens = createTokenOracle(violations, host);
  const commands = createCommandOracle(violations);

  const broker = createBroker(clock, dice.fork(), network, {
    resends: terms.commanded,
    published(topic, payload) {
      for (const { reports } of rooms.values()) reports.published(topic, payload);
      owner?.published(topic, payload);
      if (topic.includes('/cmd/') && !payload.includes('"id":"o')) commands.answered(payload);
      if (!topic.endsWith('/token/req')) return;
      tallies.tokenRequests++;
      checkTokenRequest(payload, violations);
    },
    arrived(topic, payload, options) {
      owner?.arrived(topic, payload);
      if (topic.endsWith('/token/req')) backend.hear(topic, payload, options);
    },
    finale: (payload) =>
      violations.check(
        'stop',
        payload?.includes('"offline"') === true,
        () => 'the last published status is not "offline"',
      ),
  });

  const onStrike: OnStrike = (kind, forMs) => {
    clock.settle(); // Run the callbacks of a port that rejects.
    world.struck(kind, forMs);
  };
  const answer = createAnswers(clock, dice, () => broker, network, answers, onStrike);
  const backend: BackendHost = createBackendHost({
    clock,
    dice: dice.fork(),
    host,
    answer,
    lanes: rooms.size,
    terms: { maxDurationS: terms.maxDurationS, singleUse: terms.singleUse, expiresS: terms.expiresS },
  });

  const connections: Connections = createConnections({
    clock,
    network,
    host,
    rooms,
    main,
    tallies,
    tokens,
    laneOf: (id) => device.laneOf(id),
  });
  const onStep = (step: LaneStep): void => {
    const now = clock.now();
    tallies.steps++;
    for (const watcher of watchers) watcher(step, now);
    const room = roomOf(step.lane);
    room.lane.step(step, now);
    room.speech.step(step, now);
    room.reports.step(step, now);
    owner?.step(step);
    const { before, after, effects } = step;
    if (isWithoutLoudspeaker(ports, step.lane, now))
      for (const effect of effects) if (effect.type === 'play') room.speech.untaken(effect.pcm, cancels);
    for (const effect of effects)
      if (cancels && effect.type === 'play' && effect.kind === 'speech') room.speech.written(effect.pcm, now);
    const phase = phaseOf(after.session);
    if (phaseOf(before.session) === phase && before.counts === after.counts) return;
    note(phase.length * 31 + step.effects.length + Math.round(now));
    for (const what of ['rollovers', 'splits', 'sessions', 'standbys', 'revocations'] as const)
      tallies[what] += after.counts[what] - before.counts[what];
    if (speaksTo(after) !== null && speaksTo(after) !== speaksTo(before)) room.speech.live(now);
    turn(room.id, speaksTo(after) !== null);
  };
  const device = createDevice({
    clock,
    dice: dice.fork(),
    broker,
    rooms,
    violations,
    spoil: (given) => withThrowingPorts(spoil?.(given) ?? given, ports, onStrike),
    hasThrown: () => ports.thrown > 0,
    roomAmplitude: terms.roomAmplitude,
    cancellerDice: createDice(seed + 2 ** 33),
    // Other seeds keep exact timers, so that regression seeds run as before.
    latenessDice: cancels ? createDice(seed + 3 * 2 ** 33) : null,
    config: agentConfig(terms, {}),
    disk: terms.commanded ? (): StateDisk | null => owner?.disk ?? null : () => null,
    openWire: (isAlive, enlist) => connections.openWire(isAlive, enlist),
    onStep,
    onStart: () => owner?.started(),
    onEnd() {
      owner?.ended();
      for (const room of rooms.values()) {
        turn(room.id, false);
        room.speech.ended();
        room.reports.ended();
        room.lane.ended();
      }
      commands.forget();
    },
    onFinale() {
      owner?.finished();
      violations.check(
        'stop',
        [...rooms.values()].every(({ connections }) => connections.size === 0),
        () => 'connections are still open after the shutdown',
      );
    },
  });
  const operator = createOperator(clock, dice.fork(), broker, commands, () => {
    for (const { lane } of rooms.values()) lane.command(clock.now());
  });
  owner = terms.commanded
    ? createOwner({
        clock,
        seed,
        terms,
        broker,
        violations,
        laneOf: device.laneOf,
        reread: device.reread,
        isRestless: options.restless === true,
        makeConfig: (changes, hours) => agentConfig(terms, changes, hours),
        connections: () => [...rooms.values()].reduce((sum, { connections }) => sum + connections.size, 0),
        isStopping: () => device.isStopping,
        isUsable: () => device.lane !== null && !device.isStopping && broker.connected && !network.blackHole,
        onCommand() {
          for (const { lane } of rooms.values()) lane.command(clock.now());
        },
      })
    : null;
  if (!terms.bootsIn1970) clock.setWall(Date.UTC(2026, 0, 15, 9));

  const world: World = {
    clock,
    dice,
    network,
    broker,
    backend,
    answers,
    ports,
    host,
    microphone,
    speaker,
    device,
    operator,
    owner,
    violations,
    speech,
    visitors,
    tallies,
    get trace() {
      return trace;
    },
    get liveSince() {
      return streaming.get(main.id) ?? null;
    },
    mayLose: () => true,
    struck: () => {},
    onStep: (listener) => void watchers.push(listener),
    onTurn: (listener) => void turns.push(listener),
    judge() {
      for (const room of rooms.values()) {
        const state = device.laneOf(room.id);
        room.speech.judge(clock.now(), heldSince(state));
        room.reports.judge(state, clock.now());
      }
      commands.judge(clock.now());
      owner?.judge();
    },
    compareCounts() {
      for (const room of rooms.values()) room.speech.compareCounts();
    },
  };
  return world;
}
