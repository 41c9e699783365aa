import { setTimeout as wait } from 'node:timers/promises';
import { type Step, stepsIn, untilSteps } from './trail.ts';
import type { UmlMachine } from './uml-machine.ts';

/** A part of an update, by what the updater reports and by what runs. */
export interface Phase {
  readonly name: 'download' | 'unpack' | 'switch' | 'confirmation';
  /** More exactly; empty if there is nothing to add. */
  readonly part: string;
  begins(step: Step): boolean;
  ends(step: Step): boolean;
}

const isState = (...states: readonly string[]) => {
  return ({ kind, what }: Step): boolean => kind === 'state' && states.includes(what);
};
const isOtherState = (state: string) => {
  return ({ kind, what }: Step): boolean => kind === 'state' && what !== state;
};

export const DOWNLOAD: Phase = {
  name: 'download',
  part: '',
  begins: isState('downloading'),
  ends: isOtherState('downloading'),
};
export const UNPACK: Phase = {
  name: 'unpack',
  part: '',
  begins: isState('verifying'),
  ends: isOtherState('verifying'),
};
export const LINK: Phase = {
  name: 'switch',
  part: 'link',
  begins: isState('switching'),
  ends: isOtherState('switching'),
};
export const RESTART: Phase = {
  name: 'switch',
  part: 'restart',
  begins: isState('confirming'),
  ends: ({ kind }) => kind === 'runs',
};
export const CONFIRMATION: Phase = {
  name: 'confirmation',
  part: '',
  begins: isState('confirming'),
  ends: isState('done', 'rolled_back', 'failed'),
};

/** The first step of a phase, and the step that ends it. */
export function findPhase(
  steps: readonly Step[],
  { begins, ends }: Phase,
): { readonly first: Step | undefined; readonly end: Step | undefined } {
  const at = steps.findIndex(begins);
  return at < 0
    ? { first: undefined, end: undefined }
    : { first: steps[at], end: steps.slice(at + 1).find(ends) };
}

const BEGINS_WITHIN_MS = 120_000;

export interface PhaseCut {
  readonly phase: Phase;
  /** Time of the cut since the phase began (ms). */
  readonly afterMs: number;
  /** The phase was over: it does not count. */
  readonly isLate: boolean;
  readonly bootMs: number;
}

/** Cuts the power at a moment of a phase, or at once if it has passed. */
export async function cutDuring(machine: UmlMachine, phase: Phase, momentMs: number): Promise<PhaseCut> {
  const look = (steps: readonly Step[]) => findPhase(steps, phase).first;
  const earlier = look(stepsIn(machine.console()));
  const agoMs = earlier === undefined ? 0 : (await uptimeMs(machine)) - earlier.atMs;
  await untilSteps(machine, BEGINS_WITHIN_MS, look);
  const seenAt = performance.now();
  await wait(Math.max(0, momentMs - agoMs));
  const afterMs = agoMs + performance.now() - seenAt;
  const bootMs = await machine.cutPower();
  const { end } = findPhase(stepsIn(machine.consoleBeforeCut()), phase);
  return { phase, afterMs, isLate: end !== undefined, bootMs };
}

const uptimeMs = async (machine: UmlMachine): Promise<number> =>
  1000 * Number((await machine.read('/proc/uptime')).toString().split(' ')[0]);
