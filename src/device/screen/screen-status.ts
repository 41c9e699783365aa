import { type Block, REASONS } from '../../protocol/mqtt/reasons.ts';
import type { Phase } from '../../protocol/phases.ts';
import type { ScreenStatus } from '../../protocol/screen.ts';
import { isMuted } from '../lane/state/lane-options.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { phaseOf } from '../lane/state/session-state.ts';
import { opensByKey } from '../lane/two-way/two-way.ts';
import { isInterpreting, isPlaying } from '../playout/playout.ts';
import { laneStatus } from '../status/status-rules.ts';

/** A lane as the screen sees it. */
export interface ScreenedLane {
  readonly state: LaneState;
  /** When its last sentence was transcribed completely; null: its translation has begun to play, or there was none. */
  readonly understoodAt: number | null;
  readonly closedUntil: string | null;
}

/** How long the translation of a sentence may be awaited (ms) before the screen stops promising it. */
const LONGEST_TRANSLATION_MS = 15_000;

/** What a running stream does not need. */
const FOR_THE_NEXT_SESSION: readonly (Block | null)[] = ['broker', 'backend'];
const LIVE: readonly Phase[] = ['live', 'rolling'];

/** Worst status first: a lane that does not work comes before lanes that do. */
const ORDER: readonly ScreenStatus['kind'][] = [
  'offline',
  'speaking',
  'translating',
  'listening',
  'muted',
  'standby',
  'closed',
];

/** What the kiosk does, for the people in front of the kiosk. */
export function screenStatus(lanes: readonly ScreenedLane[], now: number): ScreenStatus {
  const all = lanes.map((lane) => statusOf(lane, now));
  const [first] = all.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  return first ?? { kind: 'closed', until: null };
}

function statusOf(lane: ScreenedLane, now: number): ScreenStatus {
  const { state, understoodAt } = lane;
  const obstacle = obstacleOf(lane, now);
  if (obstacle === null && isPlaying(state.playout, now)) return { kind: 'speaking' };
  // A phrase of the house does not hide that the kiosk cannot interpret.
  if (obstacle !== null) return isInterpreting(state.playout, now) ? { kind: 'speaking' } : obstacle;
  if (isMuted(state.options)) return { kind: 'muted' };
  if (understoodAt !== null && now - understoodAt < LONGEST_TRANSLATION_MS) return { kind: 'translating' };
  if (phaseOf(state.session) === 'standby') return { kind: 'standby' };
  return { kind: isDeaf(state, now) ? 'muted' : 'listening' };
}

/** Why the lane cannot interpret; null: it can. */
function obstacleOf({ state, closedUntil }: ScreenedLane, now: number): ScreenStatus | null {
  if (state.hold !== null) return { kind: 'closed', until: closedUntil };
  if (!state.wanted || state.ending) return { kind: 'closed', until: null };
  const { reasons, status } = laneStatus(state, now);
  const blocked = reasons.filter(({ code }) => code !== 'muted').map(({ code }) => REASONS[code].blocks);
  const isLive = LIVE.includes(phaseOf(state.session));
  const matters = blocked.filter((block) => !isLive || !FOR_THE_NEXT_SESSION.includes(block));
  return status === 'degraded' && matters.length > 0 ? { kind: 'offline', cause: causeOf(matters) } : null;
}

/** Whether the microphone is closed on purpose: muted, or opened only by a key that is not held. */
export function isDeaf(state: LaneState, now: number): boolean {
  return isMuted(state.options) || (opensByKey(state) && now > state.twoWay.openUntil);
}

function causeOf(blocked: readonly (Block | null)[]): 'connection' | 'microphone' | 'loudspeaker' {
  if (blocked.includes('microphone')) return 'microphone';
  return blocked.includes('loudspeaker') ? 'loudspeaker' : 'connection';
}

const LEVELS = 10;
const QUIETEST_DB = -60;
const DB_PER_LEVEL = 5;

/** Loudness as a step from 0 to 10, as the page shows it. */
export function levelStep(loudestDb: number): number {
  const step = Math.round((loudestDb - QUIETEST_DB) / DB_PER_LEVEL);
  return Number.isFinite(step) ? Math.min(LEVELS, Math.max(0, step)) : 0;
}
