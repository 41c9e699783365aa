/** Language tags as services write them. */
import { primaryOf } from '../../../protocol/common/language-tag.ts';

export { primaryOf };

/** Codes that services use for the same language, although Unicode's table does not equate them. */
const SAME = new Map([
  ['nb', 'no'],
  ['nn', 'no'],
]);

/** Codes for an unknown language, for several, for none, and for private use. */
const NO_LANGUAGE = /^(?:und|mul|mis|zxx|q[a-t][a-z])$/;

/**
 * Whether two tags certainly mean different languages: `fr` and `de-AT`, but not `zh` and `cmn-Hans`, which are one language.
 * A text that is not a tag, such as a language's name in words, may mean any language.
 */
export function differ(one: string, other: string): boolean {
  if (primaryOf(one) === primaryOf(other)) return false;
  const [a, b] = [languageCode(one), languageCode(other)];
  return a !== null && b !== null && a !== b;
}

function languageCode(tag: string): string | null {
  const primary = primaryOf(tag.replaceAll('_', '-'));
  if (!/^[a-z]{2,3}$/.test(primary) || NO_LANGUAGE.test(primary)) return null;
  const { language } = new Intl.Locale(primary);
  return SAME.get(language) ?? language;
}

/** The target that a tag means: the same, or the only one with the same primary language; null: unknown. */
export function targetOf(tag: string | null, targets: readonly string[]): string | null {
  if (targets.length === 1) return targets[0] ?? null;
  if (tag === null) return null;
  const wanted = tag.toLowerCase();
  const alike = targets.filter((target) => primaryOf(target) === primaryOf(wanted));
  return (
    targets.find((target) => target.toLowerCase() === wanted) ??
    (alike.length === 1 ? (alike[0] ?? null) : null)
  );
}
