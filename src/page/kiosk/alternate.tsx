import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { directionOf } from '../../core/language-names.ts';

/** How long a text stands in one language (ms). */
const EACH_MS = 4000;

/** The language that is shown now: each for 4 s. */
export function useLanguageInTurn(languages: readonly string[]): string {
  const turn = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => {
      turn.value += 1;
    }, EACH_MS);
    return () => clearInterval(timer);
  }, []);
  return languages[turn.value % languages.length] ?? 'en';
}

export interface Alternative {
  readonly language: string;
  readonly text: string;
}

/** Shows one of the texts. All of them take their room, so that nothing moves when the language changes. */
export function Alternate(props: { look: string; texts: readonly Alternative[]; now: string }) {
  const { look, texts, now } = props;
  return (
    <span class="alternate">
      {texts.map(({ language, text }) => (
        <span
          key={language}
          class={language === now ? look : 'room'}
          aria-hidden={language !== now}
          lang={language}
          dir={directionOf(language)}
        >
          {text}
        </span>
      ))}
    </span>
  );
}
