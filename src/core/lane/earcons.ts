import { type Earcon, synthesizeEarcon } from '../audio/earcon.ts';
import { BYTES_PER_SAMPLE } from '../audio/pcm.ts';
import { enqueueOwn } from '../playout.ts';
import type { Phase } from './phases.ts';
import { feedLoudspeaker } from './speaking.ts';
import type { LaneState } from './state.ts';
import type { Turn } from './turn.ts';

/** What a listener has been told without words. */
export interface Chimes {
  /** The lane has been live since it was started. */
  readonly wasLive: boolean;
  /** `up`: a session hears, or will in the ordinary course of things; `away`: it is gone; `told`: and that was said. */
  readonly line: 'up' | 'away' | 'told';
  /** When a chime about the connection, or about the microphone, was given last. */
  readonly lineAt: number;
  readonly muteAt: number;
  /** Good news that waits until nobody speaks, and since when. */
  readonly due: { readonly earcon: Earcon; readonly since: number } | null;
  /** When somebody was heard speaking last. */
  readonly voiceAt: number;
  /** Whether the microphone is muted as far as a listener knows; null: nobody listens. */
  readonly muted: boolean | null;
}

export const NO_CHIMES: Chimes = {
  wasLive: false,
  line: 'up',
  lineAt: Number.NEGATIVE_INFINITY,
  muteAt: Number.NEGATIVE_INFINITY,
  due: null,
  voiceAt: Number.NEGATIVE_INFINITY,
  muted: null,
};

/** A session that is back so soon was hardly missed. */
const MISSED_AFTER_MS = 2000;
/** A line that comes and goes is told of no more often than this. */
const LINE_PAUSE_MS = 15_000;
const MUTE_PAUSE_MS = 500;
/** Half-duplex is deaf while a chime sounds: nobody who speaks is interrupted for good news, which soon is none any more. */
const SILENT_FOR_MS = 1000;
const GOOD_NEWS_MS = 10_000;

/** The lane is at rest: nothing is expected of it. */
const AT_REST: readonly Phase[] = ['idle', 'draining', 'restarting', 'closed'];
const UP: readonly Phase[] = ['live', 'rolling'];

function chime(turn: Turn, earcon: Earcon, about: 'line' | 'mute'): void {
  const { orders, settings, chimes } = turn.state;
  turn.set({ chimes: { ...chimes, [about === 'line' ? 'lineAt' : 'muteAt']: turn.now } });
  if (!orders.earcons) return;
  const rateHz = (settings.playoutBytesPerMs * 1000) / BYTES_PER_SAMPLE;
  const pcm = synthesizeEarcon(earcon, rateHz);
  turn.set({ playout: enqueueOwn(turn.state.playout, about, pcm, turn.now) });
  feedLoudspeaker(turn);
}

/** Looks at what a step has changed, and says it where a listener should know. */
export function attendChimes(turn: Turn, before: LaneState): void {
  const { state } = turn;
  if (AT_REST.includes(state.phase)) {
    if (before.phase !== state.phase) rest(turn);
    return;
  }
  // A session that begins sets the time of the last voice, too.
  const isVoice =
    before.lastVoiceAt !== state.lastVoiceAt && before.counts.sessions === state.counts.sessions;
  if (isVoice) turn.set({ chimes: { ...turn.state.chimes, voiceAt: turn.now } });
  if (turn.state.chimes.muted !== state.orders.muted) tellMute(turn);
  followLine(turn, before);
  tellDue(turn);
}

function followLine(turn: Turn, before: LaneState): void {
  const { state } = turn;
  if (before.phase === state.phase && before.failures === state.failures) return;
  if (UP.includes(state.phase)) tellUp(turn);
  else if (isGone(turn, before)) turn.set({ chimes: { ...turn.state.chimes, line: 'away' } });
  if (turn.state.chimes.line === 'away' && turn.state.timers.earcon === null) {
    const { lineAt } = turn.state.chimes;
    turn.arm('earcon', Math.max(turn.now + MISSED_AFTER_MS, lineAt + LINE_PAUSE_MS));
  }
}

function rest(turn: Turn): void {
  turn.disarm('earcon');
  const { lineAt, muteAt } = turn.state.chimes;
  turn.set({ chimes: { ...NO_CHIMES, lineAt, muteAt } });
}

/** A lane that was live has no session, and not because it sleeps or makes room for the next one. */
function isGone({ state }: Turn, before: LaneState): boolean {
  const { phase, chimes, failures, retiring, stream } = state;
  if (!chimes.wasLive || chimes.line !== 'up') return false;
  if (phase === 'standby' || stream !== null || retiring?.successorWaits === true) return false;
  return before.stream !== null || failures > before.failures;
}

function tellUp(turn: Turn): void {
  const { chimes } = turn.state;
  turn.disarm('earcon');
  const news: Earcon | null = chimes.line === 'told' ? 'recovered' : chimes.wasLive ? null : 'ready';
  const due = news === null ? chimes.due : { earcon: news, since: turn.now };
  turn.set({ chimes: { ...chimes, wasLive: true, line: 'up', due } });
}

/** Looked at with every step: there are three a second while somebody listens. */
function tellDue(turn: Turn): void {
  const { chimes } = turn.state;
  const { due, line, voiceAt } = chimes;
  if (due === null) return;
  const isStale = line !== 'up' || turn.now - due.since > GOOD_NEWS_MS;
  if (!isStale && turn.now - voiceAt < SILENT_FOR_MS) return;
  turn.set({ chimes: { ...chimes, due: null } });
  if (!isStale) chime(turn, due.earcon, 'line');
}

/** The session has been gone for so long that a visitor should know. */
export function onEarconTimer(turn: Turn): void {
  const { chimes } = turn.state;
  if (chimes.line !== 'away') return;
  turn.set({ chimes: { ...chimes, line: 'told' } });
  chime(turn, 'lost', 'line');
}

function tellMute(turn: Turn): void {
  const { orders, chimes } = turn.state;
  // Told with a later step where it is too soon now: there are three a second while somebody listens.
  if (chimes.muted !== null && turn.now - chimes.muteAt < MUTE_PAUSE_MS) return;
  turn.set({ chimes: { ...chimes, muted: orders.muted } });
  if (chimes.muted !== null) chime(turn, orders.muted ? 'muted' : 'unmuted', 'mute');
}
