/**
 * What a stop takes is told: translated speech that waited for the loudspeaker when the lane has ended, before the device can be
 * offline; speech that was held, or that the service had understood and not spoken, as lost.
 */
import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import type { LaneState } from '../../src/core/lane/state.ts';
import { bytesOf, OWN_STREAM } from '../../src/core/playout/sentences.ts';
import { isTalk } from '../../src/core/speech/decision.ts';
import type { Piece } from '../../src/core/uplink/replay/piece.ts';
import type { Sentence } from '../../src/core/uplink/replay/record.ts';
import { owedSpeech } from '../../src/core/uplink/replay/replay-log.ts';
import { hasSounded } from '../../src/core/uplink/replay/sentence.ts';
import { isStoppedByHold } from './losses.ts';
import type { Violations } from './violations.ts';

/** Less than this need not be told. */
const LEAST_MS = 200;
/** About two seconds, and one: less of it may be a noise, or the end of a sentence. */
const LEAST_HELD_CHUNKS = 6;
const LEAST_OWED_CHUNKS = 3;

export interface StopAccount {
  step(step: LaneStep): void;
  /** The process has ended: what it has not told it will not tell. */
  ended(): void;
}

export function createStopAccount(violations: Violations): StopAccount {
  let owedMs = 0;
  return {
    step({ before, after, event, effects }) {
      const isStop = event.type === 'stop' || event.type === 'shutdown' || isStoppedByHold(before, after);
      const takenChunks =
        (isStop ? heldChunks(before) : 0) + understoodChunks(before, after, toldCuts(effects));
      const lostChunks = after.backlog.accounts.lost - before.backlog.accounts.lost;
      violations.check(
        'told',
        lostChunks >= takenChunks,
        () =>
          `a stop took ${takenChunks} chunks of speech that nobody heard, and ${lostChunks} count as lost`,
      );
      // Without a loudspeaker it is told as not heard.
      if (isStop && !before.playbackLost) owedMs += Math.max(0, waitingMs(before) - waitingMs(after));
      if (owedMs === 0 || after.session.kind === 'draining') return;
      const told = effects.flatMap((effect) =>
        effect.type === 'notify' && effect.kind === 'speech_dropped' && effect.detail['why'] === 'stop'
          ? [Number(effect.detail['dropped_ms'])]
          : [],
      );
      const toldMs = told.reduce((sum, ms) => sum + ms, 0);
      violations.check(
        'told',
        toldMs >= owedMs - LEAST_MS,
        () => `${owedMs} ms waited for the loudspeaker at a stop, and ${toldMs} ms are told`,
      );
      owedMs = 0;
    },
    ended() {
      owedMs = 0;
    },
  };
}

/** Chunks in which somebody certainly speaks, if they are more than a word. */
function heldChunks({ backlog, session }: LaneState): number {
  if (session.kind === 'standby' || session.kind === 'draining') return 0;
  const sure = backlog.chunks.filter(
    ({ pcm, voiced, levels }) => pcm !== null && (levels === undefined || isTalk(voiced, levels, 0)),
  );
  return sure.length < LEAST_HELD_CHUNKS ? 0 : sure.length;
}

/** A translation as it is told to be cut off. */
interface ToldCut {
  readonly language: unknown;
  readonly playedMs: unknown;
}

function toldCuts(effects: LaneStep['effects']): readonly ToldCut[] {
  return effects.flatMap((effect) =>
    effect.type === 'notify' && effect.kind === 'audio_cut'
      ? [{ language: effect.detail['language'], playedMs: effect.detail['played_ms'] }]
      : [],
  );
}

/**
 * What a stream that has ended by a stop had understood, and owes; whoever spoke may have to hear it in another language, too.
 * @param cuts of a sentence that had begun to sound the rest is told as cut off
 */
function understoodChunks(
  { session, idPrefix }: LaneState,
  after: LaneState,
  cuts: readonly ToldCut[],
): number {
  if (session.kind !== 'draining' || after.session.kind === 'draining' || idPrefix !== after.idPrefix)
    return 0;
  const { replay } = session.stream;
  const isTold = ({ languages }: Sentence): boolean =>
    languages.some(({ language, ms }) =>
      cuts.some((cut) => cut.language === language && cut.playedMs === Math.round(ms)),
    );
  const told = new Set<string | null>(
    replay.sentences.filter((one) => hasSounded(one) && isTold(one)).map(({ id }) => id),
  );
  const isOfTold = ({ sentence, seam }: Piece): boolean => told.has(sentence) || told.has(seam?.next ?? null);
  const pieces = replay.pieces.filter((piece) => piece.sentence !== null && !isOfTold(piece));
  const chunks = owedSpeech({ ...replay, pieces }).possible;
  return chunks < LEAST_OWED_CHUNKS ? 0 : chunks;
}

function waitingMs({ playout, settings }: LaneState): number {
  const spoken = playout.utterances.filter(({ stream }) => stream !== OWN_STREAM);
  return spoken.reduce((sum, one) => sum + bytesOf(one), 0) / settings.playoutBytesPerMs;
}
