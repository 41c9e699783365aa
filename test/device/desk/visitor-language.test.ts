import { describe, expect, it } from 'vitest';
import { NOTICES, noticeIn } from '../../../src/device/desk/notice.ts';
import {
  exchangeLanguage,
  nextLanguage,
  visitorLanguage,
} from '../../../src/device/desk/visitor-language.ts';
import { SPOKEN_LANGUAGES } from '../../../src/protocol/common/service-languages.ts';

const TASK = { source: 'en', targets: ['es'] };

describe("the visitor's language", () => {
  it.each([
    [TASK, [], 'es'],
    [TASK, ['fr', 'es'], 'es'],
    [TASK, ['EN', 'fr'], 'en'],
    [TASK, ['en', 'es'], 'es'],
    [{ source: 'en', targets: ['es', 'fr'] }, [], 'es'],
  ] as const)('of %j with the offer %j is %s', (task, offer, language) => {
    expect(visitorLanguage(task, offer)).toBe(language);
  });

  it.each([
    [TASK, ['es', 'fr'], { targets: ['fr'] }],
    [TASK, ['fr', 'es'], { targets: ['fr'] }],
    [TASK, ['fr', 'de'], { targets: ['fr'] }],
    [TASK, ['es', 'en', 'de'], { targets: ['de'] }],
    [{ source: 'en', targets: ['es', 'fr'] }, ['es', 'fr'], { targets: ['fr'] }],
    [{ source: 'en', targets: ['es', 'de'] }, ['es', 'fr'], { targets: ['fr', 'de'] }],
    [{ source: 'de', targets: ['en'] }, ['de', 'fr'], { source: 'fr' }],
  ] as const)('after %j with the offer %j changes %j', (task, offer, next) => {
    const language = nextLanguage(task, offer) ?? '';
    expect(exchangeLanguage(task, visitorLanguage(task, offer), language)).toEqual(next);
  });

  it('has no next one when nothing else is offered', () => {
    for (const offer of [[], ['es'], ['es', 'en']]) expect(nextLanguage(TASK, offer)).toBeNull();
  });

  it('is not another form of the other one where the service tells the two people apart', () => {
    const offer = ['es', 'en-us', 'fr'];
    expect(nextLanguage(TASK, offer, 'auto')).toBe('fr');
    expect(nextLanguage(TASK, offer, 'button')).toBe('en-us');
  });

  it('is the source of the other lane of a room', () => {
    expect(exchangeLanguage({ source: 'es', targets: ['en'] }, 'es', 'fr')).toEqual({ source: 'fr' });
    expect(exchangeLanguage({ source: 'de', targets: ['en'] }, 'es', 'fr')).toEqual({});
  });

  it('comes back to the first after the last', () => {
    const offer = ['es', 'fr', 'ja'];
    let task: { source: string; targets: readonly string[] } = TASK;
    const seen = offer.map(() => {
      task = { ...task, targets: [nextLanguage(task, offer) ?? ''] };
      return task.targets[0];
    });
    expect(seen).toEqual(['fr', 'ja', 'es']);
  });
});

describe('the notice', () => {
  it('exists in every language that the service speaks', () => {
    expect(Object.keys(NOTICES).sort()).toEqual([...SPOKEN_LANGUAGES].sort());
    expect(new Set(Object.values(NOTICES)).size).toBe(SPOKEN_LANGUAGES.length);
  });

  it.each([
    ['de-AT', {}, { language: 'de-AT', text: NOTICES['de'] }],
    ['cy', {}, { language: 'en', text: NOTICES['en'] }],
    ['cy', { cy: 'Mae AI yn cyfieithu.' }, { language: 'cy', text: 'Mae AI yn cyfieithu.' }],
    ['es', { es: 'Una IA.' }, { language: 'es', text: 'Una IA.' }],
    ['cy', { en: 'An AI.' }, { language: 'en', text: 'An AI.' }],
  ])('in %s with own texts %j is %j', (language, own, notice) => {
    expect(noticeIn(language, own)).toEqual(notice);
  });
});
