import { describe, expect, it } from 'vitest';
import {
  type Answers,
  isComplete,
  isDone,
  NO_ANSWERS,
  noteAnswer,
  outcomes,
} from '../../src/fleet/answers.ts';
import { receivedStatusSchema } from '../../src/fleet/device-messages.ts';
import type { DeviceEntry } from '../../src/fleet/roster.ts';
import type { CommandResponse } from '../../src/protocol/mqtt/command.ts';

const answer = (status: CommandResponse['status'], data?: unknown): CommandResponse =>
  ({ ts: null, id: 'one', status, ...(data !== undefined && { data }) }) as CommandResponse;
const entry = (device: string, status: string | null): DeviceEntry => ({
  device,
  status: status === null ? null : receivedStatusSchema.parse({ status }),
  state: null,
});
const noted = (...told: [device: string, status: CommandResponse['status']][]): Answers =>
  told.reduce((answers, [device, status]) => noteAnswer(answers, device, answer(status)), NO_ANSWERS);

describe('the answers to a command', () => {
  it('count only the first final answer of each device', () => {
    const twice = noteAnswer(noteAnswer(NO_ANSWERS, 'a', answer('ok', 1)), 'a', answer('error', 2));
    expect(twice.final.get('a')).toMatchObject({ status: 'ok', data: 1 });
  });

  it.each([
    ['no device is reachable', noted(), [], true],
    ['a present device is silent', noted(), [entry('a', 'ready')], false],
    ['an absent device is silent', noted(), [entry('a', 'lost'), entry('b', null)], true],
    ['a device has begun', noted(['a', 'accepted']), [], false],
    ['a device has begun and finished', noted(['a', 'accepted'], ['a', 'ok']), [entry('a', 'ready')], true],
    ['one of two devices has finished', noted(['a', 'ok']), [entry('a', 'ready'), entry('b', 'idle')], false],
    ['a device reported as away has answered', noted(['a', 'error']), [entry('a', 'lost')], true],
  ])('are complete or not when %s', (_, answers, expected, isAll) => {
    expect(isComplete(answers, expected)).toBe(isAll);
  });

  it('give the result of each device by name, also of unknown devices', () => {
    const answers = noted(['stranger', 'ok'], ['b', 'expired'], ['begun', 'accepted']);
    const expected = [entry('b', 'ready'), entry('a', 'lost'), entry('begun', 'ready'), entry('new', null)];
    expect(outcomes(answers, expected, 10)).toEqual([
      { device: 'a', kind: 'silent', why: 'is not connected: its last status was lost' },
      { device: 'b', kind: 'answered', answer: answer('expired') },
      { device: 'begun', kind: 'silent', why: 'has begun, but was not finished within 10 s' },
      { device: 'new', kind: 'silent', why: 'the broker knows no such device' },
      { device: 'stranger', kind: 'answered', answer: answer('ok') },
    ]);
  });

  it('say of devices that are away, and of no others, that the command waits for them', () => {
    const answers = noted(['begun', 'accepted']);
    const expected = [
      entry('away', 'offline'),
      entry('begun', 'lost'),
      entry('mute', 'ready'),
      entry('new', null),
    ];
    const told = outcomes(answers, expected, 10, '; queued').flatMap((one) =>
      one.kind === 'silent' && one.why.endsWith('; queued') ? [one.device] : [],
    );
    expect(told).toEqual(['away']);
  });

  it('count as done only with "ok"', () => {
    const all = outcomes(noted(['a', 'ok'], ['b', 'error'], ['c', 'expired']), [entry('d', 'ready')], 1);
    expect(all.filter(isDone).map(({ device }) => device)).toEqual(['a']);
  });
});
