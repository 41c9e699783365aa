import type { LaneEvent } from '../../core/lane/event.ts';
import type { AudioFault } from '../../ports/audio.ts';

type Device = Extract<LaneEvent, { type: 'audio_fault' }>['device'];

const CODES: Readonly<Record<AudioFault['code'], true>> = {
  not_found: true,
  busy: true,
  lost: true,
  hung: true,
  format: true,
  too_fast: true,
  failed: true,
};

/** A fault as the lane hears of it. Taken by its names: a fault may be an `Error`, whose message a spread leaves behind. */
export function faultEvent(device: Device, { code, message }: AudioFault): LaneEvent {
  return { type: 'audio_fault', device, code, message };
}

/** Why a device could not be opened: a fault that says so, or whatever else was thrown. */
export function openingFault(device: Device, error: unknown): LaneEvent {
  const message = error instanceof Error && error.message !== '' ? error.message : 'unknown error';
  return faultEvent(device, { code: isFault(error) ? error.code : 'failed', message });
}

function isFault(error: unknown): error is AudioFault {
  return (
    typeof error === 'object' && error !== null && 'code' in error && Object.hasOwn(CODES, String(error.code))
  );
}
