import type { AudioFault } from '../../ports/audio.ts';
import { type Outcome, problem } from './finding.ts';
import { fixOf } from './tls-advice.ts';

const FIXES = (what: string): Readonly<Record<AudioFault['code'], string>> => ({
  not_found: 'Plug it in, or configure another one: "dragoman devices" lists them.',
  busy: 'End the program that has it: "dragoman devices" tells which.',
  lost: `Plug the ${what} in again, and try another socket or cable.`,
  hung: `Plug the ${what} in again, or restart the sound server behind it; if it hangs each time, use another one.`,
  format: 'Use "plughw:" in the device name, so that ALSA converts.',
  too_fast: 'Use another card: this one does not keep time.',
  failed: '"dragoman devices" lists what there is; look at "dmesg" too.',
});

/** @param code of an `AudioFault` */
export function judgeDeviceFault(
  device: string,
  { code, message }: { readonly code: string; readonly message: string },
  direction: 'capture' | 'playback',
): Outcome {
  const fixes = FIXES(direction === 'capture' ? 'microphone' : 'loudspeaker');
  // A driver's own message ends with a better fix if it knows one.
  const [happened = '', ...own] = message.split('; ');
  const named = happened.includes(device) ? happened : `${device}: ${happened}`;
  const usual = Object.entries(fixes).find(([known]) => known === code)?.[1] ?? fixes.failed;
  return problem(named, own.length === 0 ? usual : sentence(own.join('; ')), { device, code });
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? fixOf(text).slice(0, -1) : fixOf(text);
}
