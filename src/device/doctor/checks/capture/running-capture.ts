import type { Clock } from '../../../../ports/clock.ts';
import type { LaneConfig } from '../../../../protocol/config.ts';
import { BYTES_PER_SAMPLE } from '../../../../sound/pcm.ts';
import type { LaneRunner, LaneStep } from '../../../lane/runner/lane-runner.ts';
import { combine, type Outcome, skipped } from '../../report/finding.ts';
import { judgeLostDevice } from '../../sound-devices/device-fault-rules.ts';
import { nameOf } from '../../sound-devices/device-name.ts';
import { type HeardPiece, judgeHearing, measureHearing } from './microphone-rules.ts';
import { judgeCaptureFindings } from './running-capture-rules.ts';

/** How long a running lane is listened to (ms). */
export const LISTEN_MS = 2000;

export interface RunningLanes {
  readonly clock: Clock;
  /** Calls back after every step of every lane, until the returned function is called. */
  watch(listener: (step: LaneStep) => void): () => void;
}

/** Judges the microphone of a running lane by the sound that the lane receives, and by what the lane has found. */
export async function judgeRunningCapture(
  lane: LaneRunner,
  { capture }: LaneConfig,
  lanes: RunningLanes,
): Promise<Outcome> {
  const device = nameOf(capture);
  const pieces = await overhear(lane.id, capture.sampleRate, lanes);
  const { phase } = lane;
  const { captureLost, deviceFaults, captureFindings } = lane.state;
  if (captureLost) return judgeLostDevice(device, deviceFaults.capture, 'capture');
  if (pieces.length === 0 && (phase === 'idle' || phase === 'closed'))
    return skipped(`the lane is ${phase} and does not listen; the command "start" starts it`);
  return combine([
    judgeHearing(measureHearing(pieces, capture.sampleRate), {
      device,
      isRecording: capture.driver === 'file',
      wasSilentBeforeTone: null,
    }),
    ...judgeCaptureFindings(device, captureFindings),
  ]);
}

/** The sound that a lane receives in the next two seconds. */
function overhear(id: string, rateHz: number, { clock, watch }: RunningLanes): Promise<HeardPiece[]> {
  const pieces: HeardPiece[] = [];
  let ms = 0;
  return new Promise((resolve) => {
    const settle = (): void => {
      unwatch();
      cancel();
      resolve(pieces);
    };
    const unwatch = watch(({ lane, event }) => {
      if (lane !== id || event.type !== 'captured') return;
      pieces.push(event);
      ms += (event.pcm.byteLength / BYTES_PER_SAMPLE / rateHz) * 1000;
      if (ms >= LISTEN_MS) settle();
    });
    const cancel = clock.at(clock.now() + LISTEN_MS * 1.5, settle);
  });
}
