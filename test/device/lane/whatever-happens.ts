import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { step } from '../../../src/device/lane/machine.ts';
import type { LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import { isStreaming } from '../../../src/device/lane/state/session-state.ts';
import { fc } from '../../properties.ts';
import { behave } from './behaviour.ts';
import { fork } from './fork.ts';
import { type Act, anyAct } from './hostile.ts';
import { CHUNK_MS, type LaneHarness } from './lane-harness.ts';
import { perform } from './perform.ts';
import { SITUATIONS, situation } from './situations.ts';

const acts = fc.array(anyAct, { maxLength: 60 });
/** The longest wait is a parked lane's six minutes, before or after a set-up that hangs, a lost answer and a drain. */
const BACK_WITHIN_MS = 600_000;
const LONGEST_DRAIN_MS = 3000;

/** A stream receives speech, with the ordered task. */
function isUp({ state: { session } }: LaneHarness): boolean {
  return isStreaming(session) && !session.stream.taskStale;
}

const NAMES = Object.keys(SITUATIONS);

const origins = new Map<string, LaneHarness>();
function originOf(name: string): LaneHarness {
  const origin = origins.get(name) ?? situation(name);
  const { silentAskMs } = LANE_DEFAULTS;
  origin.state = { ...origin.state, settings: { ...origin.state.settings, silentAskMs } };
  origins.set(name, origin);
  return origin;
}

function play(name: string, sequence: readonly Act[]): LaneHarness {
  const lane = fork(originOf(name));
  for (const act of sequence) perform(lane, act);
  return lane;
}

/**
 * Holds from each situation, for any number of sequences.
 * @param parameters of the random sequences: of known ones the seed; a failure prints its seed and its smallest sequence
 */
export function describeWhateverHappens(name: string, parameters: { seed?: number; numRuns: number }): void {
  describe(`whatever happens (${name} sequences)`, () => {
    it.each(NAMES)('from %s: nothing is thrown and no invariant breaks', (phase) => {
      fc.assert(
        fc.property(acts, (sequence) => {
          const lane = play(phase, sequence);
          lane.pass(1000);
          expect(lane.log.every(({ at }) => Number.isFinite(at))).toBe(true);
        }),
        parameters,
      );
    });

    it.each(NAMES)('from %s: a wanted lane is live again once the world behaves', (phase) => {
      fc.assert(
        fc.property(acts, (sequence) => {
          const lane = play(phase, sequence);
          behave(lane, { hears: true });
          lane.hold(null);
          const { wanted, ending } = lane.state;
          if (!wanted) {
            lane.pass(LONGEST_DRAIN_MS);
            expect(lane.phase).toBe(ending ? 'closed' : 'idle');
            expect(lane.timers.size).toBe(0);
            return;
          }
          lane.options({ muted: false, echo: 'off', standbyAfterMs: 0 });
          lane.until(() => isUp(lane) || lane.phase === 'standby', BACK_WITHIN_MS);
          if (lane.phase === 'standby') lane.speak(3);
          lane.until(() => isUp(lane), BACK_WITHIN_MS);
          // The lane has really recovered: the service hears new speech, in real time after a pause.
          lane.hush(120);
          expect(lane.accounts.held).toBeLessThanOrEqual(1);
          lane.until(() => isUp(lane), BACK_WITHIN_MS);
          const said = lane.now;
          lane.speak(5);
          const heard = lane.all('send_audio').filter(({ capturedAt }) => (capturedAt ?? 0) > said);
          expect(heard.length).toBeGreaterThanOrEqual(4);
          expect(['live', 'rolling']).toContain(lane.phase);
          expect(lane.now - (heard.at(-1)?.capturedAt ?? 0)).toBeLessThanOrEqual(2 * CHUNK_MS);
        }),
        { ...parameters, numRuns: Math.ceil(parameters.numRuns / 4) },
      );
    });
  });
}

/** A step is pure, in this many sequences. */
export function describeStep(numRuns: number): void {
  describe('a step', () => {
    it('is pure: the same state, event and time give the same result', () => {
      fc.assert(
        fc.property(acts, fc.constantFrom(...NAMES), (sequence, phase) => {
          const lane = fork(originOf(phase));
          const seen: [LaneState, LaneEvent, number][] = [];
          const take = lane.step.bind(lane);
          lane.step = (event) => {
            seen.push([lane.state, event, lane.now]);
            return take(event);
          };
          for (const act of sequence) perform(lane, act);
          // The world freezes its data, so a step that wrote into its arguments has thrown already.
          for (const [state, event, now] of seen.filter((_, i) => i % 7 === 0)) {
            expect(isDeepStrictEqual(step(state, event, now), step(state, event, now))).toBe(true);
          }
        }),
        { seed: 7, numRuns },
      );
    });
  });
}

/** Results of the sequences: the phases in which they end, every kind of effect, and every change of phase. */
export function reach(numRuns: number) {
  const phases = new Set<string>();
  const effects = new Set<string>();
  const walks = new Set<string>();
  fc.assert(
    fc.property(acts, fc.constantFrom(...NAMES), (sequence, phase) => {
      const lane = play(phase, sequence);
      for (const { from, to } of lane.walked) walks.add(`${from} > ${to}`);
      for (const { type } of lane.log) effects.add(type);
      phases.add(lane.phase);
    }),
    { seed: 12, numRuns },
  );
  return { phases, effects, walks };
}
