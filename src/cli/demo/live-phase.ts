import type { Phase } from '../../protocol/phases.ts';
import { justify, type Row, type Signs } from './live-colors.ts';
import type { DemoModel } from './model.ts';

/** Phases on the way to a running session, in order; the picture shows the others separately. */
const STEPS: readonly Phase[] = ['acquiring', 'connecting', 'configuring', 'live'];

/** Unsent speech that counts as catching up (ms): more than the current chunk. */
const BACKLOG_MS = 640;

/** Width from which the phases are two columns apart. */
const ROOMY_WIDTH = 64;

interface Look {
  /** Explanation for the viewer; at most 56 characters. */
  readonly words: string;
  readonly colour: 'white' | 'cyan' | 'green' | 'yellow' | 'red';
}

const LOOKS: Readonly<Record<Phase, Look>> = {
  idle: { words: 'not running', colour: 'white' },
  acquiring: { words: 'requests a token from the backend; audio is buffered', colour: 'cyan' },
  connecting: { words: 'opens the stream with the token; audio is buffered', colour: 'cyan' },
  configuring: { words: 'has set the task and waits until it runs; audio buffered', colour: 'cyan' },
  live: { words: 'streams audio in real time', colour: 'green' },
  rolling: { words: 'streams, and prepares the next session', colour: 'green' },
  standby: { words: 'waits for speech: no stream and no cost', colour: 'white' },
  draining: { words: 'has ended the task; the service finishes', colour: 'cyan' },
  waiting: { words: 'waits before the next try; audio is buffered', colour: 'yellow' },
  parked: { words: 'refused; needs manual action; retries slowly', colour: 'red' },
  restarting: { words: 'program defect; restarts soon', colour: 'red' },
  closed: { words: 'the lane has ended', colour: 'white' },
};

const BROKER_GONE: Look = {
  words: 'waits for the broker to request a token; audio buffered',
  colour: 'yellow',
};

/** Two rows: the current phase among all phases, and its explanation. */
export function renderPhase({ phase, backlogMs, broker }: DemoModel, width: number, signs: Signs): Row[] {
  const { words, colour } = phase === 'acquiring' && broker !== 'up' ? BROKER_GONE : LOOKS[phase];
  const current: Row = [{ text: `${signs.here} ${phase}`, style: ['bold', colour] }];
  const gap = { text: ' '.repeat(width < ROOMY_WIDTH ? 1 : 2) };
  const steps = STEPS.flatMap((step, index): Row => {
    const before = index === 0 ? [] : [gap];
    if (step === phase) return [...before, ...current];
    const sign = isPassed(step, phase) ? signs.done : signs.ahead;
    return [...before, { text: `${sign} ${step}`, style: 'dim' }];
  });
  const isCatchingUp = phase === 'live' && backlogMs > BACKLOG_MS;
  return [
    justify(steps, STEPS.includes(phase) ? [] : current, width),
    [{ text: isCatchingUp ? 'removes pauses from the backlog to catch up' : words }],
  ];
}

function isPassed(step: Phase, phase: Phase): boolean {
  if (phase === 'draining') return true;
  return STEPS.includes(phase) && STEPS.indexOf(step) < STEPS.indexOf(phase);
}
