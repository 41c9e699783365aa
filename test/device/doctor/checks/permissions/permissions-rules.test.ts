import { describe, expect, it } from 'vitest';
import {
  judgePermissions,
  type WantedDevice,
} from '../../../../../src/device/doctor/checks/permissions/permissions-rules.ts';
import type { SoundAccess } from '../../../../../src/ports/machine.ts';

describe('the permissions', () => {
  const MIC: WantedDevice = { key: 'lanes[0].capture.device', device: 'plughw:CARD=Mic', card: 'Mic' };
  const ANY: WantedDevice = { key: 'lanes[0].playback.device', device: 'default', card: null };
  const access = (more: Partial<SoundAccess> = {}): SoundAccess => ({
    hasSound: true,
    user: 'dragoman',
    isInAudio: true,
    cards: [{ id: 'Mic', index: 1, isAllowed: true }],
    ...more,
  });
  it('are ok when the card is present and may be opened', () => {
    expect(judgePermissions(access(), [MIC, ANY])).toMatchObject({
      verdict: 'ok',
      finding: '1 card, dragoman may use it',
    });
    expect(judgePermissions(access(), [{ ...MIC, card: 1 }]).verdict).toBe('ok');
  });
  it('name the missing group', () => {
    const cards = [{ id: 'Mic', index: 1, isAllowed: false }];
    expect(judgePermissions(access({ cards, isInAudio: false }), [MIC])).toMatchObject({
      verdict: 'problem',
      fix: expect.stringContaining('usermod -aG audio dragoman'),
    });
    expect(judgePermissions(access({ cards }), [MIC]).fix).toContain('/dev/snd');
  });
  it('name the missing card and the present ones', () => {
    expect(judgePermissions(access(), [{ ...MIC, card: 'Other' }])).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('there are Mic'),
    });
    expect(judgePermissions(access({ cards: [] }), [MIC]).finding).toContain('no sound card is plugged in');
    expect(judgePermissions(access({ hasSound: false, cards: [] }), [MIC]).verdict).toBe('warning');
  });
  it('are skipped without a card', () => {
    expect(judgePermissions(access(), []).verdict).toBe('skipped');
    expect(judgePermissions(access({ hasSound: false, cards: [] }), [ANY]).verdict).toBe('skipped');
  });
});
