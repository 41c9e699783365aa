import type { EchoGuard } from '../../../../sound/echo-guard.ts';
import { combine, type Outcome, ok, warning } from '../../report/finding.ts';

/**
 * @param playedS seconds of sound played since the start
 * @param hasAir whether microphone and loudspeaker are in one room; an echo that is measured with files is a coincidence
 */
export function judgeRunningPlayback(
  device: string,
  { volume, playedS, hasAir }: { volume: number; playedS: number; hasAir: boolean },
  { measures, fallback }: EchoGuard,
): Outcome {
  const last = hasAir ? measures.at(-1) : undefined;
  const heard =
    last === undefined
      ? hasAir
        ? ''
        : '; its echo is not judged, because a file has none'
      : `; heard back after ${Math.round(last.delayMs)} ms at ${Math.round(last.gainDb)} dB`;
  const data = {
    played_s: playedS,
    ...(last !== undefined && { delay_ms: Math.round(last.delayMs), gain_db: Math.round(last.gainDb) }),
    fallback: fallback?.reason ?? null,
  };
  return combine([
    ok(`${device} is open, ${playedS} s played since the start${heard}`, data),
    ...(volume === 0 ? [warning(`${device}: the volume is 0`, 'Turn it up with the command "volume".')] : []),
    ...(fallback === null
      ? []
      : [
          warning(
            fallback.message,
            'Move microphone and loudspeaker apart or turn the volume down, then send the command "echo".',
          ),
        ]),
  ]);
}
