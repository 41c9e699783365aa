import { describe, expect, it } from 'vitest';
import {
  answerCall,
  beginCall,
  endCall,
  type HelpState,
  isOpen,
  mayCallAt,
  NO_CALL,
  noteDelivery,
  passTime,
} from '../../../src/device/help/help-rules.ts';

const WITHIN_MS = 120_000;
const called = (): HelpState =>
  noteDelivery(beginCall(NO_CALL, 'main', true, 1000), 1, true, WITHIN_MS, 1050);
const stateOf = ({ call }: HelpState): string | null => call?.state ?? null;

describe('a call for staff', () => {
  it('is "called" only when the broker has acknowledged it', () => {
    const calling = beginCall(NO_CALL, 'main', true, 1000);
    expect([stateOf(calling), isOpen(calling)]).toEqual(['calling', true]);
    expect(noteDelivery(calling, 1, true, WITHIN_MS, 1050).call).toEqual({
      state: 'called',
      number: 1,
      lane: 'main',
      calledAt: 1000,
      by: null,
      until: 121_050,
    });
    expect(stateOf(noteDelivery(calling, 1, false, WITHIN_MS, 1050))).toBe('unreached');
  });

  it('is "unreached" at once without a connection, and does not count for the limit', () => {
    const help = beginCall(NO_CALL, 'main', false, 1000);
    expect([stateOf(help), isOpen(help)]).toEqual(['unreached', false]);
    expect(mayCallAt(help)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('is "unreached" when the broker has not acknowledged it after 10 s, and "called" after a late acknowledgement', () => {
    const calling = beginCall(NO_CALL, 'main', true, 1000);
    expect(stateOf(passTime(calling, 10_999))).toBe('calling');
    const late = passTime(calling, 11_000);
    expect(stateOf(late)).toBe('unreached');
    expect(stateOf(noteDelivery(late, 1, true, WITHIN_MS, 14_000))).toBe('called');
  });

  it('ignores the acknowledgement of an earlier call, and one after the end', () => {
    const second = beginCall(endCall(called()), 'main', true, 40_000);
    expect(noteDelivery(second, 1, true, WITHIN_MS, 40_100)).toBe(second);
    const ended = endCall(second);
    expect(noteDelivery(ended, 2, true, WITHIN_MS, 40_100)).toBe(ended);
    const answered = answerCall(second, 'Ann', 40_200);
    expect(noteDelivery(answered, 2, false, WITHIN_MS, 40_300)).toBe(answered);
  });

  it('is "unanswered" at the end of the time for an answer, and over two minutes later', () => {
    expect(stateOf(passTime(called(), 121_049))).toBe('called');
    const unanswered = passTime(called(), 121_050);
    expect([stateOf(unanswered), isOpen(unanswered)]).toEqual(['unanswered', false]);
    expect(stateOf(passTime(unanswered, 241_049))).toBe('unanswered');
    expect(stateOf(passTime(unanswered, 241_050))).toBeNull();
  });

  it('can be answered late, and is over two minutes after the answer', () => {
    const answered = answerCall(passTime(called(), 121_050), 'Ann', 130_000);
    expect(answered.call).toMatchObject({ state: 'answered', by: 'Ann' });
    expect(stateOf(passTime(answered, 249_999))).toBe('answered');
    expect(stateOf(passTime(answered, 250_000))).toBeNull();
  });

  it('may come once in 30 s, counted over the end of the call', () => {
    expect(mayCallAt(NO_CALL)).toBe(Number.NEGATIVE_INFINITY);
    expect(mayCallAt(called())).toBe(31_000);
    expect(mayCallAt(endCall(called()))).toBe(31_000);
  });
});
