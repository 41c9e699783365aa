import { signal } from '@preact/signals';
import { TEXTS as EN, type TextKey, type Texts } from './en.ts';

export type { TextKey };

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

/** Key of the viewer's choice in local storage. */
const KEPT = 'language';

export const language = signal<Language>('en');
const texts = signal<Texts>(EN);

/** Loads the texts in the viewer's choice, otherwise in the browser's first available language. */
export async function beginTexts(): Promise<void> {
  const wanted = [localStorage.getItem(KEPT) ?? '', ...navigator.languages];
  const firstKnown = wanted.map((tag) => tag.slice(0, 2)).find(isLanguage);
  await useLanguage(firstKnown ?? 'en');
}

export async function chooseLanguage(next: Language): Promise<void> {
  localStorage.setItem(KEPT, next);
  await useLanguage(next);
}

async function useLanguage(next: Language): Promise<void> {
  texts.value = next === 'de' ? (await import('./de.ts')).TEXTS : EN;
  language.value = next;
  document.documentElement.lang = next;
}

const isLanguage = (tag: string): tag is Language => Object.hasOwn(LANGUAGES, tag);

/** Locale of numbers and times: the browser's own variant of the language, such as en-GB. */
export function locale(): string {
  const { value } = language;
  return navigator.languages.find((tag) => tag.split('-')[0] === value) ?? value;
}

/** Caches formatters: making one takes a hundred times as long as using it, and each row of the fleet needs several. */
function keep<T>(make: (locale: string, options: object) => T): (locale: string, options?: object) => T {
  const made = new Map<string, T>();
  return (tag, options = {}) => {
    const key = `${tag} ${JSON.stringify(options)}`;
    const known = made.get(key) ?? make(tag, options);
    made.set(key, known);
    return known;
  };
}
const pluralsOf = keep((tag) => new Intl.PluralRules(tag));
const numbersOf = keep((tag, options) => new Intl.NumberFormat(tag, options));
const timesOf = keep((tag, options) => new Intl.DateTimeFormat(tag, options));

/** `{name}` stands for a value; two forms, `one|more`, are chosen by `{n}`. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  const forms = texts.value[key].split('|');
  const count = Number(values['n'] ?? 1);
  const form = forms[pluralsOf(language.value).select(count) === 'one' ? 0 : forms.length - 1] ?? '';
  return form.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    return typeof value === 'number' ? counted(value) : value;
  });
}

/** The text of `prefix_code`, if there is one. */
export function maybeText(prefix: string, code: string): string | null {
  const key = `${prefix}_${code}`;
  return Object.hasOwn(EN, key) ? t(key as TextKey) : null;
}

const counted = (value: number): string => numbersOf(locale()).format(value);

export function numberText(value: number, digits = 0): string {
  const most = { maximumFractionDigits: digits, minimumFractionDigits: digits };
  return numbersOf(locale(), most).format(value);
}

/** Formats a time in the viewer's zone; the tooltip (`longTimeText`) names the zone. */
export function timeText(time: string | number | null | undefined): string {
  if (time === null || time === undefined) return t('unknown');
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return t('unknown');
  const isToday = date.toDateString() === new Date().toDateString();
  return timesOf(locale(), {
    ...(isToday ? {} : { day: '2-digit', month: 'short' }),
    ...(date.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).format(date);
}

export function longTimeText(time: string | number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  return timesOf(locale(), { dateStyle: 'full', timeStyle: 'long' }).format(date);
}

export function lastingText(seconds: number): string {
  if (seconds < 60) return t('seconds', { n: Math.round(seconds) });
  if (seconds < 3600) return t('minutes', { n: Math.round(seconds / 60) });
  if (seconds < 86_400) return t('hours', { n: numberText(seconds / 3600, 1) });
  return t('days', { n: numberText(seconds / 86_400, 1) });
}
