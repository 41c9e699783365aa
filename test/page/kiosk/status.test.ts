import { describe, expect, it } from 'vitest';
import { wordingOf } from '../../../src/device/screen/wording.ts';
import { shownLevel, statusText } from '../../../src/page/kiosk/status.ts';
import type { ScreenStatus } from '../../../src/protocol/screen.ts';

describe('the status line', () => {
  it.each<[ScreenStatus, string, number]>([
    [{ kind: 'standby' }, 'Listening', 7],
    [{ kind: 'listening' }, 'Listening', 7],
    [{ kind: 'speaking' }, 'Speaking', 7],
    [{ kind: 'translating' }, 'Translating', 7],
    [{ kind: 'muted' }, 'Muted', 7],
    [{ kind: 'offline', cause: 'connection' }, 'No connection', 0],
    [{ kind: 'offline', cause: 'microphone' }, 'Out of order', 0],
    [{ kind: 'offline', cause: 'loudspeaker' }, 'Out of order', 0],
    [{ kind: 'closed', until: null }, 'Closed', 0],
  ])(
    'of %j is "%s", and its meter is empty while the kiosk is closed or out of order',
    (status, text, level) => {
      expect([statusText(status, wordingOf('en'), false), shownLevel(status, 7)]).toEqual([text, level]);
    },
  );

  it('says nothing of a closed microphone that a button opens', () => {
    expect(statusText({ kind: 'muted' }, wordingOf('en'), true)).toBe('');
    expect(statusText({ kind: 'speaking' }, wordingOf('en'), true)).toBe('Speaking');
  });
});
