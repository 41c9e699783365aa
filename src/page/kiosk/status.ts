import type { Wording } from '../../device/screen/wording.ts';
import type { ScreenStatus } from '../../protocol/screen.ts';
import { isConnected, screen } from './store.ts';

/** The agent's status; `offline` if the agent does not answer. */
export function statusNow(): ScreenStatus {
  const status = screen.value?.status;
  return isConnected.value && status !== undefined ? status : { kind: 'offline', cause: 'connection' };
}

/** What the kiosk does, in a word or two. A closed microphone is normal where a button opens it. */
export function statusText(status: ScreenStatus, words: Wording, isHeld: boolean): string {
  switch (status.kind) {
    case 'standby':
      return words.listening;
    case 'offline':
      return status.cause === 'connection' ? words.offline : words.broken;
    case 'muted':
      return isHeld ? '' : words.muted;
    default:
      return words[status.kind];
  }
}

/** The level that the meter shows: none while the kiosk is closed or out of order. */
export function shownLevel({ kind }: ScreenStatus, level: number): number {
  return kind === 'offline' || kind === 'closed' ? 0 : level;
}
