import { AUDIO_FAULTS, type AudioFault } from '../../../ports/audio.ts';
import type { LaneEvent } from '../state/lane-event.ts';

type Device = Extract<LaneEvent, { type: 'audio_fault' }>['device'];

/**
 * A fault as an event of the lane. The fields are copied by name: a fault may be an `Error`, and a spread would lose
 * its message.
 */
export function faultEvent(device: Device, { code, message }: AudioFault): LaneEvent {
  return { type: 'audio_fault', device, code, message };
}

/** Why a device could not be opened: the fault itself, or any other exception. */
export function openingFault(device: Device, error: unknown): LaneEvent {
  const message = error instanceof Error && error.message !== '' ? error.message : 'unknown error';
  return faultEvent(device, { code: isFault(error) ? error.code : 'failed', message });
}

function isFault(error: unknown): error is AudioFault {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    Object.hasOwn(AUDIO_FAULTS, String(error.code))
  );
}
