/** Checks that desired configuration takes effect by the model, and that it does not disturb running streams. */

import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import type { LaneState } from '../../src/device/lane/state/lane-state.ts';
import { hearingStream, phaseOf, waitingSuccessor } from '../../src/device/lane/state/session-state.ts';
import {
  type DocumentContent,
  type Effective,
  inEffect,
  type Kept,
  LANE_KEYS,
  type LaneKey,
} from './desired-model.ts';
import type { DrawnDocument } from './documents.ts';
import type { Violations } from './violations.ts';

export interface DesiredOracle {
  /** A process starts. @param kept text that the last one has stored; null: none */
  started(own: Effective, kept: string | null): void;
  ended(): void;
  /** A document reaches the device. @param hand gives it to the agent */
  delivered(from: string, document: DrawnDocument, hand: () => void): void;
  /** The device's own configuration has changed. @param hand makes the agent read it */
  reread(own: Effective, hand: () => void): void;
  step(step: LaneStep): void;
  published(topic: string, payload: string, now: number): void;
  judge(now: number): void;
}

export interface DesiredOracleSetup {
  readonly violations: Violations;
  /** Sources of documents, lowest priority first. */
  readonly places: readonly string[];
  readonly now: () => number;
  laneOf(id: string): LaneState | null;
  readonly isStopping: () => boolean;
}

/** Time within which a change is reported (ms): `config/reported` is published at most once a second. */
const REPORTED_WITHIN_MS = 3000;
/** Keys that the stream's task contains. */
const TASK_KEYS: readonly LaneKey[] = ['source', 'targets', 'voice'];

interface Reported {
  readonly version: Readonly<Record<string, number>>;
  readonly effective: Effective;
  readonly errors: readonly { readonly from: string; readonly key: string; readonly message: string }[];
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

export function createDesiredOracle(setup: DesiredOracleSetup): DesiredOracle {
  const { violations, places } = setup;
  const drawn = new Map<string, DocumentContent>();
  const documents = new Map<string, DocumentContent>();
  /** What each document keeps of the one before it, by `from version`. */
  const kepts = new Map<string, Kept | undefined>();
  const refusedWhole = new Set<string>();
  let own: Effective | null = null;
  let now = inEffect({ lanes: [], log: { level: '' } }, []);
  let changedAt = 0;
  let reported: { readonly body: Reported; readonly at: number } | null = null;
  /** Expected value by lane and key. */
  let running = new Map<string, unknown>();
  /** Collects the steps that a change causes while the agent takes it. */
  let applying: { readonly orders: LaneStep[] } | null = null;

  const apply = (): void => {
    const inOrder = places.flatMap((from) => {
      const content = documents.get(from);
      return content === undefined ? [] : [{ from, content, kept: kepts.get(`${from} ${content.version}`) }];
    });
    if (own !== null) now = inEffect(own, inOrder);
  };
  const optionOf = (state: LaneState, key: LaneKey): unknown =>
    key === 'standbyAfter' ? state.options.standbyAfterMs / 1000 : state.options[key];
  const checkLane = (id: string, state: LaneState, when: string): void => {
    for (const key of LANE_KEYS) {
      const wanted = running.get(`${id}.${key}`);
      const is = optionOf(state, key);
      violations.check(
        'desired',
        same(is, wanted),
        () => `${id}.${key} is ${show(is)}, expected ${show(wanted)}, ${when}`,
      );
    }
  };
  const checkLanes = (when: string): void => {
    for (const { id } of now.effective.lanes) {
      const state = setup.laneOf(id);
      if (state !== null && phaseOf(state.session) !== 'closed') checkLane(id, state, when);
    }
  };

  /** A lane gets orders only for changed keys, and no order ends its stream. */
  const checkOrders = (orders: readonly LaneStep[], before: Effective): void => {
    for (const { lane, before: was, after: is, effects } of orders) {
      const had = before.lanes.find(({ id }) => id === lane);
      const has = now.effective.lanes.find(({ id }) => id === lane);
      const changed = LANE_KEYS.filter((key) => !same(had?.[key], has?.[key]));
      violations.check(
        'undisturbed',
        changed.length > 0,
        () => `${lane} got orders although nothing changed for it`,
      );
      const isAnother = changed.some((key) => TASK_KEYS.includes(key));
      violations.check(
        'undisturbed',
        isAnother || !effects.some(({ type }) => type === 'send_task'),
        () => `${lane} got another task from a change of ${changed.join(', ')}`,
      );
      // A successor that is ready takes over with the new task at once; the old stream still finishes its sentence.
      const isRollover = isAnother && hearingStream(is.session)?.id === waitingSuccessor(was.session)?.id;
      violations.check(
        'undisturbed',
        isRollover || hearingStream(was.session)?.id === hearingStream(is.session)?.id,
        () => `a change of ${changed.join(', ')} ended the stream of ${lane}`,
      );
    }
  };
  const applyChange = (hand: () => void, when: string): void => {
    const before = now.effective;
    apply();
    changedAt = setup.now();
    applying = { orders: [] };
    hand();
    const { orders } = applying;
    applying = null;
    if (setup.isStopping()) return;
    checkOrders(orders, before);
    for (const lane of now.effective.lanes) {
      const had = before.lanes.find(({ id }) => id === lane.id);
      for (const key of LANE_KEYS)
        if (!same(had?.[key], lane[key])) running.set(`${lane.id}.${key}`, lane[key]);
    }
    checkLanes(when);
  };

  const checkReport = ({ version, effective, errors }: Reported): void => {
    const lanes = effective.lanes.map((lane) =>
      Object.fromEntries(['id', ...LANE_KEYS].map((key) => [key, lane[key as LaneKey]])),
    );
    const wanted = now.effective.lanes.map((lane) =>
      Object.fromEntries(['id', ...LANE_KEYS].map((key) => [key, lane[key as LaneKey]])),
    );
    violations.check(
      'reported',
      same(lanes, wanted),
      () => `reported lanes are ${show(lanes)}, expected ${show(wanted)}`,
    );
    violations.check(
      'reported',
      effective.log.level === now.effective.log.level,
      () => `reported log.level is ${effective.log.level}, expected ${now.effective.log.level}`,
    );
    const versions = places.flatMap((from) => {
      const content = documents.get(from);
      return content === undefined ? [] : [[from, content.version] as const];
    });
    violations.check(
      'reported',
      same(version, Object.fromEntries(versions)),
      () => `reported versions are ${show(version)}, expected ${show(versions)}`,
    );
    const found = new Set(errors.map(({ from, key }) => `${from} ${key}`));
    const owed = [...now.refused, ...[...refusedWhole].map((from) => `${from} `)];
    const missing = owed.filter((one) => !found.has(one));
    violations.check(
      'reported',
      missing.length === 0,
      () => `no error is reported for ${missing.join('; ')}`,
    );
    // The service may have refused languages: the model cannot predict that.
    const excess = [...found].filter(
      (one) => !owed.includes(one) && !TASK_KEYS.some((key) => one.endsWith(`.${key}`)),
    );
    violations.check(
      'reported',
      excess.length === 0,
      () => `an error is reported for valid ${excess.join('; ')}`,
    );
    violations.check(
      'reported',
      errors.every(({ message }) => message.length > 5),
      () => 'an error has no message',
    );
  };

  return {
    started(given, kept) {
      own = given;
      documents.clear();
      refusedWhole.clear();
      reported = null;
      changedAt = setup.now();
      const known =
        kept === null
          ? []
          : (JSON.parse(kept) as { documents: { from: string; version: number }[] }).documents;
      for (const { from, version } of known) {
        const content = drawn.get(`${from} ${version}`);
        if (content !== undefined) documents.set(from, content);
        else
          violations.add(
            'desired',
            `the device kept version ${version} of ${from}, which was never published`,
          );
      }
      apply();
      running = new Map(
        now.effective.lanes.flatMap((lane) => LANE_KEYS.map((key) => [`${lane.id}.${key}`, lane[key]])),
      );
    },
    ended() {
      own = null;
      reported = null;
    },
    delivered(from, { payload, content }, hand) {
      if (own === null) return hand();
      if (content !== null) drawn.set(`${from} ${content.version}`, content);
      const isWrong = content === null && payload !== '';
      if (isWrong) refusedWhole.add(from);
      else {
        refusedWhole.delete(from);
        if (content === null) documents.delete(from);
        else {
          const before = documents.get(from);
          if (before !== content) kepts.set(`${from} ${content.version}`, before && now.inForce.get(from));
          documents.set(from, content);
        }
      }
      applyChange(hand, `after a document of ${from}`);
    },
    reread(given, hand) {
      if (own !== null) own = given;
      if (own === null) return hand();
      applyChange(hand, 'after the file was read again');
    },
    step(step) {
      const { event, before, after, lane } = step;
      if (applying !== null) {
        if (event.type === 'options' || event.type === 'set_echo') applying.orders.push(step);
        return;
      }
      if (before.options === after.options || own === null) return;
      // Only an operator's command may change the options here, not even a refusal by the service.
      if (event.type === 'options' || event.type === 'set_echo')
        for (const key of LANE_KEYS) running.set(`${lane}.${key}`, optionOf(after, key));
      checkLane(lane, after, `after ${event.type}`);
    },
    published(topic, payload, at) {
      if (topic.endsWith('/config/reported')) reported = { body: JSON.parse(payload) as Reported, at };
    },
    judge(at) {
      if (own === null || setup.isStopping()) return;
      checkLanes('without a change');
      if (reported === null || at - changedAt < REPORTED_WITHIN_MS) return;
      checkReport(reported.body);
    },
  };
}
