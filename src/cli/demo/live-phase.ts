import type { Phase } from '../../core/lane/phases.ts';
import { justify, type Row, type Signs } from './live-colors.ts';
import type { DemoModel } from './model.ts';

/** The way to a running session; the other phases lie beside it. */
const WAY: readonly Phase[] = ['acquiring', 'connecting', 'configuring', 'live'];

/** More than this waiting to be sent is not just the chunk at hand. */
const BACKLOG_MS = 640;

/** From here on the phases stand two columns apart. */
const ROOMY_WIDTH = 64;

interface Look {
  /** For the person who watches; at most 56 characters. */
  readonly words: string;
  readonly colour: 'white' | 'cyan' | 'green' | 'yellow' | 'red';
}

const LOOKS: Readonly<Record<Phase, Look>> = {
  idle: { words: 'does not run', colour: 'white' },
  acquiring: { words: 'asks the backend for a token; audio is held', colour: 'cyan' },
  connecting: { words: 'opens the stream with the token; audio is held', colour: 'cyan' },
  configuring: { words: 'has set the task and asks until it runs; audio is held', colour: 'cyan' },
  live: { words: 'streams audio in real time', colour: 'green' },
  rolling: { words: 'streams, and readies the next session', colour: 'green' },
  standby: { words: 'waits for a voice: no stream and no cost', colour: 'white' },
  draining: { words: 'has ended the task and lets the service finish', colour: 'cyan' },
  waiting: { words: 'waits a moment before the next try; audio is held', colour: 'yellow' },
  parked: { words: 'refused until somebody fixes it; asks again at times', colour: 'red' },
  restarting: { words: 'hit a defect of the program; begins again soon', colour: 'red' },
  closed: { words: 'has ended', colour: 'white' },
};

const BROKER_GONE: Look = {
  words: 'waits for the broker to ask for a token; audio is held',
  colour: 'yellow',
};

/** Two rows: the place among the phases, and what it means. */
export function renderPhase(
  { phase, backlogMs, isBrokerGone }: DemoModel,
  width: number,
  signs: Signs,
): Row[] {
  const { words, colour } = phase === 'acquiring' && isBrokerGone ? BROKER_GONE : LOOKS[phase];
  const current: Row = [{ text: `${signs.here} ${phase}`, style: ['bold', colour] }];
  const gap = { text: ' '.repeat(width < ROOMY_WIDTH ? 1 : 2) };
  const way = WAY.flatMap((step, index): Row => {
    const before = index === 0 ? [] : [gap];
    if (step === phase) return [...before, ...current];
    const sign = isBehind(step, phase) ? signs.done : signs.ahead;
    return [...before, { text: `${sign} ${step}`, style: 'dim' }];
  });
  const isCatchingUp = phase === 'live' && backlogMs > BACKLOG_MS;
  return [
    justify(way, WAY.includes(phase) ? [] : current, width),
    [{ text: isCatchingUp ? 'takes pauses out of what was held, to catch up' : words }],
  ];
}

function isBehind(step: Phase, phase: Phase): boolean {
  if (phase === 'draining') return true;
  return WAY.includes(phase) && WAY.indexOf(step) < WAY.indexOf(phase);
}
