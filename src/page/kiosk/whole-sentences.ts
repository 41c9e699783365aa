import type { ScreenText } from '../../protocol/screen.ts';

/** Marks at the end of a sentence in many scripts, with the quotes and brackets after them. */
const SENTENCE_END = /[.!?…؟۔।。！？]["'\s\p{Pe}\p{Pf}]*$/u;

/** Takes new texts of one language. Returns what has become a whole sentence, and the beginning of the next one. */
export function takeWhole(
  begun: string,
  texts: readonly Pick<ScreenText, 'text' | 'breaks'>[],
): { readonly whole: readonly string[]; readonly begun: string } {
  const whole: string[] = [];
  let rest = begun;
  const end = (): void => {
    if (rest.trim() !== '') whole.push(rest.trim());
    rest = '';
  };
  for (const { text, breaks } of texts) {
    if (breaks) end();
    rest += text;
    if (SENTENCE_END.test(rest)) end();
  }
  return { whole, begun: rest };
}
