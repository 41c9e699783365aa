import { type DeskFigures, emptyFigures } from './oracle.ts';
import type { Form } from './people.ts';

export const FORMS: readonly Form[] = ['auto', 'button', 'hold', 'rooms', 'cancelling'];

const MOST: readonly (keyof DeskFigures)[] = ['floorMs', 'cutMs', 'answerMs'];

/** Adds the figures of one conversation. */
export function addFigures(sum: DeskFigures, one: DeskFigures): DeskFigures {
  const next: Record<string, number | string> = { ...sum };
  for (const [key, value] of Object.entries(one)) {
    const before = next[key];
    if (typeof value !== 'number' || typeof before !== 'number') continue;
    next[key] = MOST.includes(key as keyof DeskFigures) ? Math.max(before, value) : before + value;
  }
  return next as unknown as DeskFigures;
}

export const noFigures = (): Map<Form, DeskFigures> =>
  new Map(FORMS.map((form) => [form, emptyFigures(form)]));

/** Longest time until the other lane hears silence (ms), and until a key is answered. */
const FLOOR_WITHIN_MS = 200;
const ANSWER_WITHIN_MS = 150;
const RIGHT_SHARE = 0.99;
/** Share of what is said to the kiosk between faults that is translated. */
const TRANSLATED_SHARE = 0.97;

/** What of the figures breaks a promise, in words. */
export function brokenPromises(figures: DeskFigures): string[] {
  const { form, sentences, right, selfTranslated, saidBack, said, translated } = figures;
  const { floorMs, answerMs } = figures;
  const isBroken: readonly (readonly [boolean, string])[] = [
    [sentences === 0 || said === 0, 'nothing was said'],
    [selfTranslated > 0, `${selfTranslated} sentences of a loudspeaker were translated`],
    [saidBack > 0, `${saidBack} sentences were spoken in their own language`],
    [right < sentences * RIGHT_SHARE, `${right} of ${sentences} sentences went in the right direction`],
    [translated < said * TRANSLATED_SHARE, `${translated} of ${said} utterances were translated`],
    [floorMs > FLOOR_WITHIN_MS, `the other lane heard ${floorMs} ms`],
    [answerMs > ANSWER_WITHIN_MS, `a key was answered after ${answerMs} ms`],
  ];
  return isBroken.flatMap(([broken, what]) => (broken ? [`${form}: ${what}`] : []));
}
