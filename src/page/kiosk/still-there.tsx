import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { directionOf } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import { act } from './link.ts';
import { endsAt } from './store.ts';

const LOOK_EACH_MS = 250;

/** The question before the conversation ends by silence; `useAnyTouch` takes the answer. @param languages those of its readers */
export function StillThere({ lane, languages }: { lane: string; languages: readonly string[] }) {
  const seconds = useSignal(0);
  const end = endsAt.value;
  useEffect(() => {
    if (end === null) return;
    const count = (): void => {
      seconds.value = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    };
    count();
    const timer = setInterval(count, LOOK_EACH_MS);
    return () => clearInterval(timer);
  }, [end]);
  if (end === null) return null;
  const words = [...new Set(languages.map(wordedLanguage))];
  const [first = 'en'] = words;
  return (
    <div class="still-there" role="alert" lang={first} dir={directionOf(first)}>
      {words.map((language) => (
        <p key={language} lang={language} dir={directionOf(language)}>
          {wordingOf(language).stillThere}
        </p>
      ))}
      <b aria-hidden="true">{seconds.value}</b>
      <button type="button" onClick={() => void act({ do: 'touch', lane })}>
        {wordingOf(first).goOn}
      </button>
    </div>
  );
}

/** While the question stands, any touch and any key on the page answers it. */
export function useAnyTouch(lane: string): void {
  const isAsked = endsAt.value !== null;
  useEffect(() => {
    if (!isAsked) return;
    let isAnswered = false;
    const answer = (event: Event): void => {
      // A repeating key may be pressed by an object, not by a person. The button sends its own answer.
      if (isAnswered || (event instanceof KeyboardEvent && event.repeat)) return;
      isAnswered = true;
      void act({ do: 'touch', lane }).then((isDone) => {
        isAnswered = isDone;
      });
    };
    for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, answer, true);
    return () => {
      for (const kind of ['pointerdown', 'keydown']) removeEventListener(kind, answer, true);
    };
  }, [isAsked, lane]);
}
