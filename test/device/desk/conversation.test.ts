import { describe, expect, it } from 'vitest';
import {
  beginConversation,
  noteActivity,
  noteLanguage,
  noteSentence,
  noteSound,
  summarize,
} from '../../../src/device/desk/conversation.ts';

const sentence = (id: string | null, endedAt: number) => ({ id, endedAt, language: 'en' });

describe('the figures of a conversation', () => {
  it('are zero and null when nothing was said', () => {
    const talk = beginConversation('key', 1000, 500);
    expect(summarize(talk, 91_000, 500)).toEqual({
      duration_s: 90,
      languages: [],
      sentences: 0,
      delay_ms: null,
      billed_s: 0,
    });
  });

  it('have the median delay of the first sounds, and each language once', () => {
    let talk = beginConversation('voice', 0, 10_000);
    for (const [index, delay] of [900, 4000, 2000, 1000].entries()) {
      talk = noteSentence(talk, sentence(`s${index}`, index * 10_000));
      talk = noteSound(talk, `s${index}`, index * 10_000 + delay);
      // Later sound of the same sentence.
      talk = noteSound(talk, `s${index}`, index * 10_000 + delay + 3000);
    }
    talk = noteLanguage(noteLanguage(talk, 'es'), 'es');
    expect(summarize(talk, 60_000, 52_340)).toEqual({
      duration_s: 60,
      languages: ['en', 'es'],
      sentences: 4,
      delay_ms: 1500,
      billed_s: 42.3,
    });
  });

  it('count sound of another sentence for none', () => {
    const talk = noteSound(noteSentence(beginConversation('voice', 0, 0), sentence('a', 100)), 'b', 900);
    expect(summarize(talk, 1000, 0).delay_ms).toBeNull();
  });

  it('pass over a sentence that was never spoken', () => {
    let talk = noteSentence(beginConversation('voice', 0, 0), sentence(null, 100));
    talk = noteSound(noteSentence(talk, sentence('b', 5000)), 'b', 7000);
    for (const id of [null, 'b']) expect(noteSound(talk, id, 9000)).toBe(talk);
    expect(summarize(talk, 9000, 0).delay_ms).toBe(2000);
  });

  it('stay small however long it lasts', () => {
    let talk = beginConversation('voice', 0, 0);
    for (let n = 0; n < 5000; n++) {
      talk = noteSentence(talk, { ...sentence(`s${n}`, n), language: `x${n}` });
      if (n % 2 === 0) talk = noteSound(talk, `s${n}`, n + 10);
    }
    expect(JSON.stringify(talk).length).toBeLessThan(10_000);
    expect(talk.sentences).toBe(5000);
  });

  it('keep the newest sixteen sentences that wait for their sound', () => {
    let talk = beginConversation('voice', 0, 0);
    for (let n = 0; n < 17; n++) talk = noteSentence(talk, sentence(`s${n}`, n * 100));
    expect(noteSound(talk, 's0', 9000)).toBe(talk);
    talk = noteSound(talk, 's1', 5100);
    expect(summarize(talk, 9000, 0).delay_ms).toBe(5000);
    talk = noteSound(talk, 's16', 4600);
    expect(summarize(talk, 9000, 0).delay_ms).toBe(4000);
  });

  it('are of the newest 512 delays', () => {
    let talk = beginConversation('voice', 0, 0);
    for (let n = 0; n < 512 + 256; n++) {
      talk = noteSentence(talk, sentence('a', n * 10_000));
      talk = noteSound(talk, 'a', n * 10_000 + (n < 257 ? 1000 : 3000));
    }
    expect(summarize(talk, 1, 0).delay_ms).toBe(3000);
  });

  it('name the first sixteen languages, in the order of their first use', () => {
    let talk = beginConversation('voice', 0, 0);
    for (let n = 0; n < 17; n++) talk = noteLanguage(talk, `x${n}`);
    expect(summarize(talk, 1, 0).languages).toEqual(Array.from({ length: 16 }, (_, n) => `x${n}`));
  });

  it('are not made younger by an earlier moment', () => {
    const talk = beginConversation('touch', 1000, 0);
    expect(noteActivity(talk, 500)).toBe(talk);
    expect(noteActivity(talk, 1500).activeAt).toBe(1500);
  });
});
