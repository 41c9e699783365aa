import { samplesOf } from '../../sound/pcm.ts';
import { createAudioAccount, fingerprint } from './audio-account.ts';
import { createPacingMeter } from './pacing.ts';
import { levelDb } from './pcm.ts';
import type { Recording } from './recording.ts';
import type { StreamReport } from './stream-report.ts';
import type { TaskPlan } from './task-plan.ts';

/** A warning about the timing of the client's audio. */
export interface IntakeWarning {
  readonly code: 'AUDIO_STREAM_TOO_FAST' | 'AUDIO_STREAM_TOO_SLOW' | 'AUDIO_STREAM_STALLED';
  readonly message: string;
}

const TOO_FAST: IntakeWarning = {
  code: 'AUDIO_STREAM_TOO_FAST',
  message: 'audio arrives faster than real time',
};
const TOO_SLOW: IntakeWarning = {
  code: 'AUDIO_STREAM_TOO_SLOW',
  message: 'audio arrives slower than real time',
};
const STALLED: IntakeWarning = {
  code: 'AUDIO_STREAM_STALLED',
  message: 'no audio has arrived for some seconds',
};

/** A frame's sound, whether it came too fast to be transcribed, and a warning about its timing. */
export interface Taken {
  readonly pcm: Uint8Array;
  readonly overrun: boolean;
  readonly warnings: IntakeWarning[];
}

/** Measures the incoming audio of a stream. */
export interface Intake {
  /** Why a frame is not audio in the task's format; null: it is. */
  objectTo(pcm: Uint8Array, plan: TaskPlan | null): string | null;
  /** Counts a frame; removes the header from the first frame of a WAV. */
  take(pcm: Uint8Array, plan: TaskPlan | null, now: number): Taken;
  excuse(ms: number): void;
  restart(): void;
}

/** The sound of a WAV's first frame; the frame itself if it has no header. */
function withoutHeader(pcm: Uint8Array): Uint8Array {
  const letters = (at: number): string => String.fromCharCode(...pcm.subarray(at, at + 4));
  if (letters(0) !== 'RIFF') return pcm;
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  for (let at = 12; at + 8 <= pcm.byteLength; at += 8 + view.getUint32(at + 4, true)) {
    if (letters(at) === 'data') return pcm.subarray(at + 8);
  }
  return pcm.subarray(Math.min(44, pcm.byteLength));
}

/**
 * @param isRepeated records the sound of a frame; true if another stream of the client has sent it
 */
export function createIntake(
  report: StreamReport,
  recording: Recording,
  isRepeated: (print: number) => boolean,
): Intake {
  const pacing = createPacingMeter();
  const account = createAudioAccount();
  let isFirst = true;
  report.pacing = pacing.report;

  const recognise = (samples: Int16Array): void => {
    const print = fingerprint(samples);
    if (print === null) return;
    const novelty = account.judge(print);
    if (novelty === 'duplicate') report.duplicate_frames++;
    if (novelty === 'out_of_order') report.out_of_order_frames++;
    if (isRepeated(print)) report.repeated_frames++;
  };

  const keepTime = (durationMs: number, now: number): Omit<Taken, 'pcm'> => {
    const stalledBefore = pacing.report.stalled;
    const { pace, overrun } = pacing.frame(durationMs, now);
    report.pacing_violations = pacing.report.violations;
    const warnings: IntakeWarning[] = [];
    if (pace === 'too_fast') warnings.push(TOO_FAST);
    if (pacing.report.stalled > stalledBefore) warnings.push(STALLED);
    else if (pace === 'too_slow') warnings.push(TOO_SLOW);
    return { overrun, warnings };
  };

  return {
    objectTo(pcm, plan) {
      const frameBytes = 2 * (plan?.inputChannels ?? 1);
      const isWhole = pcm.byteLength > 0 && pcm.byteLength % frameBytes === 0;
      return isWhole || plan?.inputFormat === 'wav'
        ? null
        : 'audio must be whole samples of the declared format';
    },
    take(frame, plan, now) {
      const pcm = isFirst && plan?.inputFormat === 'wav' ? withoutHeader(frame) : frame;
      isFirst = false;
      const samples = samplesOf(pcm);
      const durationMs = plan === null ? 0 : (samples.length / plan.inputChannels / plan.inputHz) * 1000;
      report.frames_in++;
      report.bytes_in += pcm.byteLength;
      report.audio_ms_in += durationMs;
      report.level_in_db = levelDb(samples);
      recording.received(pcm);
      recognise(samples);
      return { pcm, ...keepTime(durationMs, now) };
    },
    excuse(ms) {
      pacing.excuse(ms);
    },
    restart() {
      pacing.restart();
    },
  };
}
