import type { SoundSource } from '../../adapters/audio/sound-source.ts';
import type { LaneStep } from '../../device/lane/runner/lane-runner.ts';
import { isPlaying } from '../../device/playout/playout.ts';
import type { CaptureSink, OpenCapture } from '../../ports/audio.ts';
import type { ScreenAction } from '../../protocol/screen.ts';
import { BYTES_PER_SAMPLE, durationMs, silence } from '../../sound/pcm.ts';
import { measureLevel } from '../../sound/sound-level.ts';

/** How long the invitation stands before the visitor touches a language (ms): long enough to read it. */
const ARRIVES_AFTER_MS = 6000;
/** Number of sentences of a visit: more than a panel holds, so that there is something to read back. */
const SENTENCES = 4;
/** Silence after the last text or sound that ends the answer (ms). */
const QUIET_MS = 4000;
/** How long the visitor reads back before leaving (ms): the page is then at the newest sentence again. */
const READS_BACK_MS = 14_000;
/** How long the visitor stays away after a person has used the page (ms). */
const STAYS_AWAY_MS = 60_000;

/** The visitor of the demo's page, who comes again and again: chooses a language, speaks, reads back and leaves. */
export interface Visitor {
  /** Whether the recording is to be silent. */
  isSilent(): boolean;
  onStep(step: LaneStep, now: number): void;
  /** A person has used the page. The visitor touches nothing until the person has left it alone. */
  onPerson(now: number): void;
  /** What the visitor touches now; null: nothing. */
  touch(now: number): ScreenAction | null;
}

interface Visit {
  readonly lane: string;
  /** The languages to choose in turn, the first one as configured. */
  readonly offer: readonly string[];
}

export function createVisitor({ lane, offer }: Visit, begunAt: number): Visitor {
  /** Since when the page has invited visitors; null: a conversation is under way. */
  let idleSince: number | null = begunAt;
  let newsAt = begunAt;
  let awayUntil = Number.NEGATIVE_INFINITY;
  let sentences = 0;
  let visits = 0;
  const isDone = (): boolean => sentences >= SENTENCES;

  return {
    isSilent: () => idleSince !== null || isDone(),
    onStep({ before, after, effects }, now) {
      const wasTalking = before.conversation !== null;
      const isTalking = after.conversation !== null;
      if (wasTalking !== isTalking) {
        idleSince = isTalking ? null : now;
        newsAt = now;
        sentences = 0;
      }
      const captions = effects.flatMap((effect) => (effect.type === 'caption' ? [effect.caption] : []));
      sentences += captions.filter(({ kind, isFinal }) => kind === 'source' && isFinal).length;
      if (captions.length > 0 || isPlaying(after.playout, now)) newsAt = now;
    },
    onPerson(now) {
      awayUntil = now + STAYS_AWAY_MS;
    },
    touch(now) {
      if (now < awayUntil) return null;
      if (idleSince === null) {
        const isOver = isDone() && now - newsAt >= QUIET_MS + READS_BACK_MS;
        // The next touch waits for the end of the conversation.
        if (isOver) newsAt = now;
        return isOver ? { do: 'end' } : null;
      }
      if (now - Math.max(idleSince, awayUntil) < ARRIVES_AFTER_MS) return null;
      idleSince = now;
      const [configured = ''] = offer;
      const language = offer[visits % offer.length] ?? configured;
      visits += 1;
      // As the page does it: the configured language is in force whenever nobody has chosen another.
      return language === configured ? { do: 'touch', lane } : { do: 'language', lane, language };
    },
  };
}

/** Level below which a piece of a recording is a pause (dBFS). */
const PAUSE_DB = -50;
/** Shortest pause between two sentences (ms): the recording's speakers hesitate for half a second at most. */
const BETWEEN_SENTENCES_MS = 700;

/**
 * The microphone hears the recording. While `isSilent`, the recording waits between two sentences, and the microphone hears the
 * noise of its last pause: one without any sound would count as broken.
 */
export function speakInTurn(
  open: OpenCapture,
  recording: Pick<SoundSource, 'read'>,
  rateHz: number,
  isSilent: () => boolean,
): OpenCapture {
  return (sink, shortPeriods) => {
    let noise = new Uint8Array();
    let pauseMs = BETWEEN_SENTENCES_MS;
    const next = (bytes: number): Uint8Array => {
      if (isSilent() && pauseMs >= BETWEEN_SENTENCES_MS) {
        const quiet = silence(bytes);
        quiet.set(noise.subarray(0, bytes));
        return quiet;
      }
      const pcm = recording.read(bytes / BYTES_PER_SAMPLE);
      const isPause = measureLevel(pcm).rmsDb < PAUSE_DB;
      pauseMs = isPause ? pauseMs + durationMs(bytes, rateHz) : 0;
      if (isPause) noise = pcm.slice();
      return pcm;
    };
    const inTurn: CaptureSink = {
      frames: (pcm, capturedAt) => sink.frames(next(pcm.byteLength), capturedAt),
      ended: () => sink.ended(),
      fault: (fault) => sink.fault(fault),
    };
    return open(inTurn, shortPeriods);
  };
}
