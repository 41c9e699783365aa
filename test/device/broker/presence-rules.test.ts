import { describe, expect, it } from 'vitest';
import { judgeStatus } from '../../../src/device/broker/presence-rules.ts';

const OWN = { bootId: 'me', connection: 3, foreign: null };
const heard = (boot_id: string, conn_seq: number, status: string) => ({ boot_id, conn_seq, status });

describe('a message on the device’s own status topic', () => {
  it.each([
    ['its own present status', heard('me', 3, 'ready'), false],
    ['its own previous status', heard('me', 3, 'degraded'), false],
    ['the will of an earlier connection', heard('me', 2, 'lost'), true],
    ['the will of the present connection', heard('me', 3, 'lost'), true],
    ['a status of an earlier connection', heard('me', 2, 'ready'), true],
    ['a message that is not a status', null, true],
  ])('%s', (_, status, isWrong) => {
    expect(judgeStatus(status, false, OWN)).toEqual({ isWrong, otherBootId: null });
    // The retained status is replaced anyway.
    expect(judgeStatus(status, true, OWN)).toEqual({ isWrong: false, otherBootId: null });
  });

  it('is wrong when it is a late will of the previous agent', () => {
    const first = { ...OWN, connection: 1 };
    expect(judgeStatus(heard('before', 9, 'lost'), false, first)).toEqual({
      isWrong: true,
      otherBootId: null,
    });
    expect(judgeStatus(heard('before', 9, 'offline'), false, first)).toEqual({
      isWrong: true,
      otherBootId: null,
    });
    for (const status of ['lost', 'offline', 'ready', 'degraded'])
      expect(judgeStatus(heard('before', 9, status), true, first)).toEqual({
        isWrong: false,
        otherBootId: null,
      });
  });

  it('reveals another device with the same name that publishes while this one is connected', () => {
    // Both are connected, at a broker that renames clients: they do not answer each other endlessly.
    expect(judgeStatus(heard('you', 1, 'ready'), false, OWN)).toEqual({ isWrong: false, otherBootId: 'you' });
  });

  it('reveals no other device when the broker has restored old data', () => {
    const old = heard('before', 9, 'ready');
    const nothing = { isWrong: false, otherBootId: null };
    expect(judgeStatus(old, true, OWN)).toEqual(nothing);
    expect(judgeStatus(old, true, { ...OWN, foreign: old })).toEqual(nothing);
    expect(judgeStatus(heard('before', 8, 'ready'), true, { ...OWN, foreign: old })).toEqual(nothing);
  });

  it.each(['ready', 'idle', 'degraded'])(
    'reveals another device when its retained status (%s) is of a newer connection',
    (status) => {
      const own = { ...OWN, foreign: heard('you', 4, 'ready') };
      expect(judgeStatus(heard('you', 5, status), true, own)).toEqual({ isWrong: false, otherBootId: 'you' });
    },
  );

  it('reveals another device when a second will is of a newer connection', () => {
    const will = heard('you', 4, 'lost');
    for (const isRetained of [true, false]) {
      const other = (foreign: ReturnType<typeof heard>, next = will) =>
        judgeStatus(next, isRetained, { ...OWN, foreign });
      expect(judgeStatus(will, isRetained, OWN)).toEqual({ isWrong: !isRetained, otherBootId: null });
      expect(other(will)).toEqual({ isWrong: !isRetained, otherBootId: null });
      expect(other(heard('they', 3, 'lost'))).toEqual({ isWrong: !isRetained, otherBootId: null });
      expect(other(will, heard('you', 5, 'lost'))).toEqual({ isWrong: !isRetained, otherBootId: 'you' });
    }
  });
});
