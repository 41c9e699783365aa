import { fixOf } from '../../../core/network/tls-advice.ts';
import { AUDIO_FAULTS, type AudioFault } from '../../../ports/audio.ts';
import { type Outcome, problem } from '../report/finding.ts';

/** @param code of an `AudioFault` */
export function judgeDeviceFault(
  device: string,
  { code, message }: { readonly code: string; readonly message: string },
): Outcome {
  // A driver's own message ends with a better fix if the driver knows one.
  const [happened = '', ...own] = message.split('; ');
  const named = happened.includes(device) ? happened : `${device}: ${happened}`;
  const { todo } = Object.hasOwn(AUDIO_FAULTS, code)
    ? AUDIO_FAULTS[code as AudioFault['code']]
    : AUDIO_FAULTS.failed;
  return problem(named, own.length === 0 ? todo.replaceAll('`', '"') : sentence(own.join('; ')), {
    device,
    code,
  });
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? fixOf(text).slice(0, -1) : fixOf(text);
}

/** Judges a device that a running lane has lost. @param fault from the lane's state, where its code begins with the direction */
export function judgeLostDevice(
  device: string,
  fault: { readonly code: string; readonly message: string } | null,
  direction: 'capture' | 'playback',
): Outcome {
  const { code, message } = fault ?? { code: 'failed', message: 'it has failed' };
  return judgeDeviceFault(device, { code: code.replace(`${direction}_`, ''), message });
}
