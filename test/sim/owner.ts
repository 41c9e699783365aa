/** The owner of a commanded world: sends documents and commands, changes the file, and runs the oracles for them. */

import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import type { LaneState } from '../../src/device/lane/state/lane-state.ts';
import { phaseOf } from '../../src/device/lane/state/session-state.ts';
import type { Config } from '../../src/protocol/config.ts';
import { deviceTopics } from '../../src/protocol/mqtt/topics.ts';
import type { Broker } from './broker.ts';
import { createCommandOracle } from './command-oracle.ts';
import { createCommands, GROUPS } from './commands.ts';
import { type Effective, LANE_KEYS, type LaneKey } from './desired-model.ts';
import { createDesiredOracle } from './desired-oracle.ts';
import { createDice, type Dice } from './dice.ts';
import { createDocuments, type DrawnDocument, EMPTY } from './documents.ts';
import { drawSchedule } from './hours.ts';
import { ALWAYS, createHoursOracle, type Hours } from './hours-oracle.ts';
import { createMoments, type ReachedPhases } from './moments.ts';
import { ADDRESS } from './operator.ts';
import type { SimClock } from './sim-clock.ts';
import { createStateDisk, type StateDisk } from './state-files.ts';
import type { Terms } from './terms.ts';
import type { Violations } from './violations.ts';

const TOPICS = deviceTopics(ADDRESS);
interface Place {
  readonly from: string;
  readonly topic: string;
}
/** Topic of the device's own documents. */
const OWN: Place = { from: 'device', topic: TOPICS.configDesired };
/** Sources of documents and their topics, lowest priority first. */
const PLACES: readonly [Place, ...Place[]] = [
  ...(GROUPS.map((group) => ({ from: `group:${group}`, topic: TOPICS.groupDesired(group) })) as [Place]),
  OWN,
];
const SECOND_MS = 1000;
/** Shortest calm time without faults (ms). */
const CALM_MS = 720_000;
/** Longest delay of a message after the phase begins (ms): most phases last longer. */
const PHASE_MS = 200;

export interface Owner {
  readonly disk: StateDisk;
  readonly reached: ReachedPhases;
  /** Publishes a document: a new one, an empty one, or the last one again. */
  publish(): void;
  command(): void;
  /** Changes the configuration file and makes the device read it again. */
  rereadFile(): void;
  /** Sets opening hours or a budget in the file. */
  order(what: keyof Hours): void;
  /** Removes them from the file. */
  revoke(what: keyof Hours): void;
  /** Sends a text to speak. */
  say(): void;
  /** Clears all documents and restores the file. */
  restore(): void;
  started(): void;
  /** The process has shut down cleanly. */
  finished(): void;
  ended(): void;
  step(step: LaneStep): void;
  published(topic: string, payload: string): void;
  arrived(topic: string, payload: string): void;
  judge(): void;
}

export interface OwnerSetup {
  readonly clock: SimClock;
  readonly seed: number;
  readonly terms: Terms;
  readonly broker: Broker;
  readonly violations: Violations;
  /** Whether the owner sends something in about every second phase of the lane. */
  readonly isRestless: boolean;
  /** @param changes to the first lane's configuration in the file */
  makeConfig(changes: Readonly<Record<string, unknown>>, hours?: Hours): Config;
  /** Number of open connections to the service. */
  connections(): number;
  reread(config: Config): void;
  laneOf(id: string): LaneState | null;
  isStopping(): boolean;
  /** Whether the process runs and is connected to its broker. */
  isUsable(): boolean;
  onCommand(): void;
}

export function createOwner(setup: OwnerSetup): Owner {
  const { clock, terms, broker, violations } = setup;
  const dice: Dice = createDice(setup.seed + 2 ** 39);
  const hoursDice = createDice(setup.seed + 2 ** 41);
  const disk = createStateDisk(clock, dice.fork());
  const moments = createMoments(clock, dice.fork());
  const modes: readonly [string, ...string[]] = terms.echo
    ? [String(terms.lane['echo'])]
    : ['half-duplex', 'off'];
  const lanes: readonly [string, ...string[]] = terms.twoLanes ? ['main', 'side'] : ['main'];
  const drawDocument = createDocuments(dice.fork(), { languages: dice.chance(0.5), echo: modes, lanes });
  let config = setup.makeConfig({});
  let changed: Readonly<Record<string, unknown>> = {};
  let hours = ALWAYS;
  let last: { readonly place: Place; readonly document: DrawnDocument } | null = null;
  let version = 10_000_000;
  let restlessFrom = Number.NEGATIVE_INFINITY;

  const desired = createDesiredOracle({
    violations,
    places: PLACES.map(({ from }) => from),
    now: () => clock.now(),
    laneOf: setup.laneOf,
    isStopping: setup.isStopping,
  });
  const answers = createCommandOracle({
    violations,
    now: () => clock.now(),
    troubledAt: () => disk.troubledAt,
    isHeld: () => admission.isHeld,
    isStopping: setup.isStopping,
  });
  const admission = createHoursOracle({
    violations,
    now: () => clock.now(),
    wall: () => clock.wall(),
    troubledAt: () => disk.troubledAt,
  });
  const phase = () => {
    const state = setup.laneOf('main');
    return state === null ? 'none' : phaseOf(state.session);
  };
  const commands = createCommands({
    clock,
    dice: dice.fork(),
    broker,
    oracle: answers,
    moments,
    modes,
    wordsDice: createDice(setup.seed + 2 ** 42),
    onCommand(kind) {
      moments.count(kind, phase());
      setup.onCommand();
    },
  });
  const post = (place: Place, document: DrawnDocument): void => {
    const { from, topic } = place;
    broker.retain({ topic, payload: document.payload, retain: false, properties: {} }, (hand) => {
      moments.count('document', phase());
      desired.delivered(from, document, hand);
      clock.settle();
    });
  };
  const reread = (changes: Readonly<Record<string, unknown>>): void => {
    changed = changes;
    config = setup.makeConfig(changes, hours);
    moments.count('file', phase());
    desired.reread(ownOf(config), () => setup.reread(config));
  };
  const publishNow = (): void => {
    const again = last !== null && dice.chance(0.15) ? last : null;
    last = again ?? { place: dice.pick([OWN, ...PLACES]), document: drawDocument() };
    post(last.place, last.document);
  };
  const order = (next: Hours): void => {
    hours = next;
    admission.ordered(next);
    reread(changed);
  };
  const tick = (): void => {
    const isUsable = setup.isUsable();
    answers.second(isUsable);
    const states = setup.isStopping() ? [] : lanes.flatMap((id) => setup.laneOf(id) ?? []);
    admission.second(states, setup.connections(), isUsable);
    clock.at(clock.now() + SECOND_MS, tick);
  };
  tick();

  return {
    disk,
    reached: moments.reached,
    publish() {
      moments.choose(publishNow);
    },
    command: () => commands.sendAtMoment(),
    rereadFile() {
      const changes: Record<string, unknown> = {};
      if (dice.chance(0.5)) changes['standbyAfter'] = dice.pick([0, 15, 60]);
      if (dice.chance(0.3)) changes['start'] = dice.pick(['boot', 'voice']);
      if (dice.chance(0.3)) changes['echo'] = dice.pick(modes);
      moments.choose(() => reread(changes));
    },
    order(what) {
      const schedule = drawSchedule(hoursDice, clock.wall());
      const minutesPerDay = hoursDice.pick([1, 3, 5]);
      order({ ...hours, ...(what === 'schedule' ? { schedule } : { minutesPerDay }) });
    },
    revoke: (what) => order({ ...hours, [what]: null }),
    say: () => commands.say(),
    restore() {
      hours = ALWAYS;
      admission.ordered(hours);
      restlessFrom = clock.now() + CALM_MS;
      for (const place of PLACES) {
        version += 1;
        const content = { version, lanes: [], logLevel: null, wrong: [] };
        post(place, dice.chance(0.3) ? EMPTY : { payload: JSON.stringify({ version }), content });
      }
      reread({});
    },
    started: () => desired.started(ownOf(config), disk.text('desired')),
    finished: () => admission.finished(),
    ended() {
      desired.ended();
      answers.ended(clock.now());
      admission.ended();
    },
    step(step) {
      moments.step(step);
      desired.step(step);
      const isRestless = setup.isRestless && clock.now() >= restlessFrom;
      if (isRestless && phaseOf(step.before.session) !== phaseOf(step.after.session) && dice.chance(0.5))
        clock.at(clock.now() + dice.between(0, PHASE_MS), dice.chance(0.5) ? commands.send : publishNow);
    },
    published(topic, payload) {
      desired.published(topic, payload, clock.now());
      admission.published(topic, payload);
    },
    arrived(topic, payload) {
      // Other ids belong to commands of operator.ts.
      if (topic.startsWith(`${TOPICS.base}/cmd/`) && payload.includes('"id":"o')) answers.answered(payload);
    },
    judge: () => desired.judge(clock.now()),
  };
}

function ownOf({ lanes, log }: Config): Effective {
  return {
    lanes: lanes.map((lane) => ({
      id: lane.id,
      ...(Object.fromEntries(LANE_KEYS.map((key) => [key, lane[key]])) as Record<LaneKey, unknown>),
    })),
    log: { level: log.level },
  };
}
