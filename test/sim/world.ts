/** The simulated world put together: one device, its surroundings, and the oracles that watch. */
import type { AgentWorld } from '../../src/agent/agent.ts';
import type { LaneStep } from '../../src/agent/lane-runner.ts';
import { type Config, configSchema } from '../../src/protocol/config.ts';
import { createAnswers, NO_ANSWER_FAULTS } from './answers.ts';
import { type BackendHost, createBackendHost } from './backend-host.ts';
import { createBroker } from './broker.ts';
import { checkTokenRequest, createCommandOracle, createTokenOracle } from './desk-oracle.ts';
import { createDevice } from './device.ts';
import { createLoudspeaker, createMicrophone } from './devices.ts';
import { createDice } from './dice.ts';
import { LEVELS } from './envelope.ts';
import { createLaneOracle } from './lane-oracle.ts';
import { createNetwork } from './network.ts';
import { ADDRESS, createOperator } from './operator.ts';
import { NO_PORT_FAULTS, withThrowingPorts } from './port-faults.ts';
import { createServiceHost } from './service-host.ts';
import { createSimClock, type SimClock } from './sim-clock.ts';
import { createSpeechOracle } from './speech-oracle.ts';
import type { SpeechOracle } from './speech-ports.ts';
import type { Stage } from './stage.ts';
import type { Generation, Terms } from './terms.ts';
import { createToldOracle } from './told-oracle.ts';
import { createViolations, type Violations } from './violations.ts';
import { createVisitors, type Visitors } from './visitors.ts';
import { createWire } from './wire.ts';

/** What a run counts as it goes. */
export interface Tallies {
  rollovers: number;
  /** Of these, the ones that cut a sentence in two. */
  splits: number;
  sessions: number;
  standbys: number;
  revocations: number;
  connections: number;
  tokenRequests: number;
  steps: number;
  /** Time with two streams open. */
  overlapMs: number;
  longestOverlapMs: number;
  overlaps: number;
}

export interface World extends Stage {
  readonly clock: SimClock;
  readonly violations: Violations;
  readonly speech: SpeechOracle;
  readonly visitors: Visitors;
  readonly tallies: Tallies;
  /** A number that two runs of one seed share and two different runs do not. */
  readonly trace: number;
  /** Since when the lane streams; null: it does not. */
  readonly liveSince: number | null;
  /** Whether speech of that moment may be lost for want of a stream. */
  mayLose: (at: number) => boolean;
  /** Calls back when the lane begins or ceases to stream. */
  onTurn(listener: (now: number, streams: boolean) => void): void;
  /** Calls back after each step of the lane. */
  onStep(listener: (step: LaneStep, now: number) => void): void;
  /** Judges what is old enough to be judged. */
  judge(): void;
}

const START_MS = 1000;

function agentConfig(lane: Record<string, unknown>): Config {
  return configSchema.parse({
    device: { id: ADDRESS.device, tenant: ADDRESS.tenant },
    mqtt: { url: 'mqtts://broker.sim' },
    lanes: [
      {
        id: 'main',
        capture: { driver: 'file', path: 'in.wav', sampleRate: 16_000 },
        playback: { driver: 'file', path: 'out.wav' },
        source: 'en',
        targets: ['es'],
        ...lane,
      },
    ],
  });
}

/** What a test may do to a world. */
export interface Meddling {
  /** The lane cancels its echo, whatever the seed drew. */
  readonly cancels?: boolean;
  /** How the seed draws; left out: as the newest. */
  readonly generation?: Generation;
  /** With what the agent is not yet known to survive. */
  readonly strict?: boolean;
  /** This kind of fault and no other. */
  readonly fault?: string | undefined;
  /** Breaks the agent on purpose. */
  readonly spoil?: (world: AgentWorld) => AgentWorld;
  /** Gets each step of the lane, to look at. */
  readonly observe?: (step: LaneStep, now: number) => void;
  /** Gets each fault as it happens. */
  readonly onFault?: (kind: string, forMs: number, now: number) => void;
}

export function createWorld(
  seed: number,
  terms: Terms,
  { spoil, observe, strict = false }: Meddling = {},
): World {
  const dice = createDice(seed);
  const cancels = terms.lane['echo'] === 'cancel';
  const isSteady = terms.talk === 'steady';
  const tongue = isSteady ? null : { dice: createDice(seed + 2 ** 37), atLength: terms.talk === 'natural' };
  const clock = createSimClock(START_MS);
  const violations = createViolations(() => clock.now());
  const network = createNetwork(dice.fork());
  const answers = { ...NO_ANSWER_FAULTS };
  const ports = { ...NO_PORT_FAULTS };
  const tallies: Tallies = {
    ...{ rollovers: 0, splits: 0, sessions: 0, standbys: 0, revocations: 0, connections: 0 },
    ...{ tokenRequests: 0, steps: 0, overlapMs: 0, longestOverlapMs: 0, overlaps: 0 },
  };
  const watchers: ((step: LaneStep, now: number) => void)[] = observe === undefined ? [] : [observe];
  const turns: ((now: number, streams: boolean) => void)[] = [];
  const turn = (streams: boolean): void => {
    if (streams === (liveSince !== null)) return;
    liveSince = streams ? clock.now() : null;
    for (const listener of turns) listener(clock.now(), streams);
  };
  let lateUntil = 0;
  let trace = 0;
  let liveSince: number | null = null;
  let twoSince = 0;
  const openConnections = new Map<number, string | null>();
  const note = (number: number): void => {
    trace = (Math.imul(trace ^ number, 0x01000193) + 0x9e37) | 0;
  };

  const host = createServiceHost(clock, dice.fork(), terms.profile, terms.choices, {
    heard: (stream, sound, running) => speech.heard(stream, sound, running),
    rendered(job) {
      const sender = host.service.stream(job.stream)?.sender;
      const isDelayed = sender !== undefined && sender.delay !== null;
      const spoilt = isDelayed || Object.values(sender?.impairments ?? {}).some((times) => times > 0);
      speech.rendered({ ...job, spoilt, renderedAt: clock.now() });
    },
  });
  const speaker = createLoudspeaker(
    clock,
    // Ducked sound can't be read any more.
    (pcm) => (cancels ? undefined : speech.written(pcm, clock.now())),
    () => {},
  );
  const speech = createSpeechOracle({
    violations,
    echo: terms.echo && terms.lane['echo'] !== 'off',
    wasLoud: (from, until) => speaker.wasDriven(from, until),
    isLate: () => clock.now() < lateUntil,
    named: terms.profile === 'live' && terms.untold.length === 0,
    strict,
    mayLose: (at) => world.mayLose(at),
  });
  const visitors = createVisitors(dice.fork(), terms.habits, START_MS, tongue);
  const microphone = createMicrophone({
    ...{ clock, dice: dice.fork(), visitors, speaker },
    ...{ echo: terms.echo, roomAmplitude: terms.roomAmplitude, pieceTicks: terms.pieceTicks },
    voices: isSteady ? undefined : LEVELS,
    note({ first, ticks, until }) {
      for (const [index, tick] of ticks.entries()) {
        if (tick === 'speech') speech.spoken(first + index, until);
      }
    },
  });
  const lane = createLaneOracle(violations);
  const tokens = createTokenOracle(violations, host);
  const commands = createCommandOracle(violations);
  const told = createToldOracle(violations);

  const broker = createBroker(clock, dice.fork(), network, {
    published(topic, payload) {
      told.published(topic, payload);
      if (topic.includes('/cmd/')) commands.answered(payload);
      if (!topic.endsWith('/token/req')) return;
      tallies.tokenRequests++;
      checkTokenRequest(payload, violations);
    },
    arrived(topic, payload, options) {
      if (topic.endsWith('/token/req')) backend.hear(topic, payload, options);
    },
    finale: (payload) =>
      violations.check(
        'stop',
        payload?.includes('"offline"') === true,
        () => 'the last word is not "offline"',
      ),
  });

  const answer = createAnswers(clock, dice, () => broker, network, answers);
  const backend: BackendHost = createBackendHost({
    ...{ clock, dice: dice.fork(), host, answer },
    terms: { maxDurationS: terms.maxDurationS, singleUse: terms.singleUse, expiresS: terms.expiresS },
  });

  const openWire = (isAlive: () => boolean, enlist: (cut: () => void) => void) =>
    createWire({
      ...{ clock, network, service: host, isAlive, enlist, untold: terms.untold },
      watch: {
        opening(given, token) {
          const connection = given + wireBase;
          openConnections.set(connection, token);
          tallies.connections++;
          if (openConnections.size === 2) twoSince = clock.now();
          tokens.opening(token, clock.now());
          // The lane's state is the one before the step that opens: looked at when the step is done.
          clock.at(clock.now(), () => {
            const state = device.lane;
            if (state !== null && isAlive()) lane.opening(openConnections.size, state, clock.now());
          });
        },
        unspent: (token) => tokens.unspent(token),
        opened: () => {},
        accepted: (given, stream) => speech.accepted(given + wireBase, stream),
        sent(given, kind, pcm) {
          lane.sent(given + wireBase, kind, clock.now());
          if (pcm !== null) speech.sent(given + wireBase, pcm, clock.now());
        },
        delivered(given, message) {
          speech.sign(given + wireBase, clock.now());
          if (message.message_type === 'output_audio') speech.delivered(message.pcm, clock.now());
          if (message.message_type === 'session_revoked')
            tokens.revoked(openConnections.get(given + wireBase) ?? null);
        },
        pong: (given) => speech.sign(given + wireBase, clock.now()),
        over(given) {
          const connection = given + wireBase;
          if (!openConnections.delete(connection)) return;
          speech.connectionOver(connection, clock.now());
          if (openConnections.size !== 1) return;
          const overlapMs = clock.now() - twoSince;
          tallies.overlapMs += overlapMs;
          tallies.overlaps += 1;
          tallies.longestOverlapMs = Math.max(tallies.longestOverlapMs, overlapMs);
        },
      },
    });
  /** Connections are counted through all lives of the device. */
  let wireBase = 0;

  const onStep = (step: LaneStep): void => {
    const now = clock.now();
    tallies.steps++;
    for (const watcher of watchers) watcher(step, now);
    lane.step(step, now);
    speech.step(step, now);
    told.step(step, now);
    const { before, after, effects } = step;
    for (const effect of effects)
      if (cancels && effect.type === 'play' && effect.kind === 'speech') speech.written(effect.pcm, now);
    if (before.phase === after.phase && before.counts === after.counts) return;
    note(after.phase.length * 31 + step.effects.length + Math.round(now));
    tallies.rollovers += after.counts.rollovers - before.counts.rollovers;
    tallies.splits += after.counts.splits - before.counts.splits;
    tallies.sessions += after.counts.sessions - before.counts.sessions;
    tallies.standbys += after.counts.standbys - before.counts.standbys;
    tallies.revocations += after.counts.revocations - before.counts.revocations;
    const streams = after.phase === 'live' || after.phase === 'rolling';
    if (streams && (liveSince === null || after.stream?.id !== before.stream?.id)) speech.live(now);
    turn(streams);
  };
  const device = createDevice({
    ...{ clock, dice: dice.fork(), broker, speaker, microphone, violations },
    spoil: (given) => withThrowingPorts(spoil?.(given) ?? given, ports, (pcm) => speech.untaken(pcm)),
    roomAmplitude: terms.roomAmplitude,
    cancellerDice: createDice(seed + 2 ** 33),
    // Seeds without it found what they found on timers that are never late.
    latenessDice: cancels ? createDice(seed + 3 * 2 ** 33) : null,
    config: agentConfig(terms.lane),
    openWire(isAlive, enlist) {
      wireBase += 100_000;
      return openWire(isAlive, enlist);
    },
    onStep,
    onEnd() {
      turn(false);
      speech.ended();
      commands.forget();
      told.ended();
    },
    onFinale: () =>
      violations.check(
        'stop',
        openConnections.size === 0,
        () => `${openConnections.size} connections after the end`,
      ),
  });
  const operator = createOperator(clock, dice.fork(), broker, commands, () => lane.command(clock.now()));
  if (!terms.bootsIn1970) clock.setWall(Date.UTC(2026, 0, 15, 9));

  const world: World = {
    ...{ clock, dice, network, broker, backend, answers, ports, host, microphone, speaker, device, operator },
    ...{ violations, speech, visitors, tallies },
    get trace() {
      return trace;
    },
    get liveSince() {
      return liveSince;
    },
    mayLose: () => true,
    onStep: (listener) => void watchers.push(listener),
    onTurn: (listener) => void turns.push(listener),
    belate(ms) {
      lateUntil = Math.max(lateUntil, clock.now() + ms);
    },
    spoil: () => speech.spoiling(clock.now()),
    judge() {
      speech.judge(clock.now(), device.lane?.hold.chunks[0]?.capturedAt ?? Number.POSITIVE_INFINITY);
      commands.judge(clock.now());
      told.judge(device.lane, clock.now());
    },
  };
  return world;
}
