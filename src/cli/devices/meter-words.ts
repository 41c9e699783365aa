import { describeHolders, type Holder } from '../../adapters/audio/cards/card.ts';
import { clips } from '../../sound/sound-level.ts';
import { adviseGain, gainAdvice } from '../../sound/speech-level.ts';
import type { Reading } from './listener.ts';

/** RMS below which a microphone is too quiet (dBFS): even an empty room is louder with a working one. */
const TOO_QUIET_DB = -65;

/** Explains which program uses the microphone, and how to free it. */
export function explainBusy(device: string, holders: readonly Holder[]): string {
  if (holders.length === 0) {
    return `the microphone "${device}" is in use by another program; end that program and try again`;
  }
  return `the microphone "${device}" is in use by ${describeHolders(holders)}; ${fixFor(holders)}`;
}

function fixFor(holders: readonly Holder[]): string {
  const has = (program: RegExp): boolean => holders.some((holder) => program.test(holder.program));
  if (has(/\bdragoman\b/)) return 'stop the agent meanwhile (sudo systemctl stop dragoman)';
  if (has(/^pipewire/)) return 'use the device "pipewire", which shares it, or stop that program';
  if (has(/^pulseaudio/)) return 'use the device "pulse", which shares it, or stop that program';
  return 'end that program and try again';
}

/** Describes and rates the whole recording, in one paragraph. */
export function judgeSound(total: Reading, card: string | null): string {
  const { ms, peakDb, rmsDb, speechMs, clippedShare, isDigitalSilence, speechDb = null } = total;
  if (ms === 0) return 'There was no sound.';
  const heard = `Heard ${seconds(ms)} of sound`;
  const mixer = `alsamixer${card === null ? '' : ` -c ${card}`}`;
  if (isDigitalSilence) {
    return `${heard}, all of it digital silence: the microphone is muted, switched off, or not connected to this input. Check its switch, and its capture control in ${mixer} (F4).`;
  }
  const levels = `${heard}: rms ${rmsDb.toFixed(1)} dBFS, loudest peak ${peakDb.toFixed(1)} dBFS, ${seconds(speechMs)} of speech.`;
  if (clips(clippedShare) === true) {
    return `${levels} ${(clippedShare * 100).toFixed(1)} % of it is clipped: turn its gain down in ${mixer} (F4).`;
  }
  if (rmsDb < TOO_QUIET_DB) {
    return `${levels} This is too quiet: turn its gain up in ${mixer} (F4), or choose another microphone.`;
  }
  if (speechDb === null) return levels;
  const said = `${levels} Speech is at ${speechDb} dBFS`;
  const advice = adviseGain(speechDb, peakDb);
  return advice === 0 ? `${said}, which is good.` : `${said}: ${lowered(gainAdvice(advice, mixer))}`;
}

function lowered(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
