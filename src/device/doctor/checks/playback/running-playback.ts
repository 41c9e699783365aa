import type { LaneConfig } from '../../../../protocol/config.ts';
import type { LaneRunner } from '../../../lane/runner/lane-runner.ts';
import { volumeInUse } from '../../../lane/sound/headset.ts';
import type { Outcome } from '../../report/finding.ts';
import { judgeLostDevice } from '../../sound-devices/device-fault-rules.ts';
import { nameOf } from '../../sound-devices/device-name.ts';
import { judgeRunningPlayback } from './running-playback-rules.ts';

/** Judges the loudspeaker of a running lane by the state of the lane, without a tone. */
export function judgePlaybackOf({ state }: LaneRunner, { capture, playback, headset }: LaneConfig): Outcome {
  const device = state.headset === null ? nameOf(playback) : (headset?.device ?? nameOf(playback));
  const { playbackLost, deviceFaults, playout, settings } = state;
  if (playbackLost) return judgeLostDevice(device, deviceFaults.playback, 'playback');
  const playedS = Math.round(playout.writtenBytes / settings.playoutBytesPerMs / 1000);
  const hasAir = capture.driver !== 'file' && playback.driver !== 'file';
  return judgeRunningPlayback(device, { volume: volumeInUse(state), playedS, hasAir }, state.echo);
}
