/** Which speech a lane may count as lost. */

import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import { CLOSING_MS } from '../../src/core/lane/session/closing.ts';
import { hearingStream, phaseOf, type Stream } from '../../src/core/lane/session/session.ts';
import { DOUBTFUL_ENDS } from '../../src/core/lane/session/silence.ts';
import type { LaneState } from '../../src/core/lane/state.ts';
import type { BacklogChunk } from '../../src/core/uplink/backlog.ts';
import { owedSpeech, unspoken } from '../../src/core/uplink/replay/replay-log.ts';
import type { Violations } from './violations.ts';

/** What was said so long ago is said to somebody else. */
const OLDEST_SAID_MS = 120_000;
/** Until a chunk is full, and its time is told. */
const CAPTURING_MS = 2000;

/** @param ageMs of speech that is sent now */
export function checkAge(violations: Violations, ageMs: number): void {
  const isYoung = ageMs <= OLDEST_SAID_MS + CAPTURING_MS;
  violations.check('age', isYoung, () => `speech was sent ${Math.round(ageMs / 1000)} s after it was said`);
}

/** The backlog was full, what was in it too old, or a stream ended without a word of what it was sent long ago. */
export function isLossRight({ before, after }: LaneStep, now: number): boolean {
  const { backlogMs, chunkMs } = after.settings;
  if (after.backlog.chunks.length >= Math.floor(backlogMs / chunkMs) - 1) return true;
  const kept = new Set(after.backlog.chunks.map(({ seq }) => seq));
  const old = before.backlog.chunks.filter((chunk) => !kept.has(chunk.seq) && isOld(chunk, now));
  const lost = after.backlog.accounts.lost - before.backlog.accounts.lost - old.length;
  const hearing = hearingStream(before.session);
  const gone = [hearing, before.oldSession?.stream].map((stream) => stream?.replay);
  const begun = gone
    .flatMap((log) => log?.interims ?? [])
    .reduce((sum, { speech }) => sum + speech.possible, 0);
  const unheard = gone.reduce((sum, log) => sum + (log?.unheard.possible ?? 0), 0);
  // What a stream owes that is given up because nobody speaks any more, or was stopped, is lost with it.
  const isGivenUp = after.session.kind === 'standby' || before.session.kind === 'draining';
  const owed = isGivenUp && hearing !== null ? owedSpeech(hearing.replay).possible : 0;
  // What silent sessions took in doubt is lost when a later one understands something.
  const doubtful = after.doubtful === null ? (before.doubtful?.chunks ?? 0) : 0;
  return lost <= unheard + owed + begun + doubtful;
}

function isOld({ capturedAt }: BacklogChunk, now: number): boolean {
  return now - capturedAt > OLDEST_SAID_MS;
}

/** What the stream that hears has forgotten in a step: it was sent too long ago, or too much was sent since. */
export function chunksForgotten(before: LaneState, after: LaneState): BacklogChunk[] {
  const [was, is] = [hearingStream(before.session), hearingStream(after.session)];
  if (was === null || is?.id !== was.id || is.replay.unheard.possible <= was.replay.unheard.possible)
    return [];
  const kept = new Set(is.replay.pieces.map(({ chunk }) => chunk.seq));
  return was.replay.pieces.map(({ chunk }) => chunk).filter(({ seq }) => !kept.has(seq));
}

/** When the oldest sound was captured of which nothing can be said yet: it waits, or a stream has it that is in doubt. */
export function openSince(state: LaneState | null): number {
  const waitsSince = state?.backlog.chunks[0]?.capturedAt ?? Number.POSITIVE_INFINITY;
  if (state === null || state.silentEnds.count < DOUBTFUL_ENDS) return waitsSince;
  const taken = hearingStream(state.session)?.replay.unheard.possibleSince ?? Number.POSITIVE_INFINITY;
  return Math.min(waitsSince, taken);
}

const logsOf = (streams: readonly (Stream | null | undefined)[]): BacklogChunk[] =>
  streams.flatMap((stream) => (stream == null ? [] : unspoken(stream.replay)));

/** What the lane had or owed before a step, and neither has nor owes any more. */
export function chunksGone(before: LaneState, after: LaneState): BacklogChunk[] {
  const kept = new Set(after.backlog.chunks.map(({ seq }) => seq));
  const [hearing, heard] = [hearingStream(after.session), hearingStream(before.session)];
  const sent = new Set(logsOf([hearing, after.oldSession?.stream]).map(({ seq }) => seq));
  const old = before.oldSession?.stream;
  // What is said once more goes from the stream's account to the backlog, where there may be no room for it.
  const isSaidAgain = after.counts.saidAgain > before.counts.saidAgain;
  const known = [
    ...before.backlog.chunks,
    ...(heard?.id === hearing?.id && !isSaidAgain ? [] : logsOf([heard])),
    ...(old?.id === after.oldSession?.stream.id ? [] : logsOf([old])),
  ];
  return known.filter(({ seq }) => !kept.has(seq) && !sent.has(seq));
}

/** Opening hours or a budget have ended what ran. */
export function isStoppedByHold(before: LaneState, after: LaneState): boolean {
  const rests = ({ session }: LaneState): boolean =>
    ['idle', 'draining', 'closed'].includes(phaseOf(session));
  return after.hold !== null && rests(after) && !rests(before);
}

/** Before that it was open for as long as what had been said needs to be spoken; only what takes longer may be cut. */
export function isFinished({ closing }: LaneState, now: number): boolean {
  return closing !== null && now - closing.since < CLOSING_MS;
}
