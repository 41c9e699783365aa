import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { directionOf } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane, ScreenPhrase } from '../../protocol/screen.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ICONS } from './icon.tsx';
import { act } from './link.ts';
import { screen } from './store.ts';

/** How long a chosen phrase is shown (ms). */
const SHOWN_MS = 60_000;

/** The number of the phrase that is shown to both people; null: none. */
const shown = signal<number | null>(null);
let timer = 0;

function show(number: number | null): void {
  clearTimeout(timer);
  shown.value = number;
  if (number !== null) timer = setTimeout(() => show(null), SHOWN_MS);
}

const textIn = (phrase: ScreenPhrase, language: string): string | undefined =>
  phrase.texts.find((one) => one.language === language)?.text;

/** The chosen phrase, if its readers have it in one of their languages. */
export function phraseFor(languages: readonly string[]): ScreenPhrase | null {
  const phrase = screen.value?.phrases.find(({ number }) => number === shown.value);
  return phrase !== undefined && languages.some((one) => textIn(phrase, one) !== undefined) ? phrase : null;
}

/** The chosen phrase in large letters, in the languages of its readers. */
export function PhraseText({ phrase, languages }: { phrase: ScreenPhrase; languages: readonly string[] }) {
  return (
    <div role="status">
      {languages.map((language) => (
        <p key={language} class="phrase" lang={language} dir={directionOf(language)}>
          {textIn(phrase, language)}
        </p>
      ))}
    </div>
  );
}

/** The language of the reader's vis-à-vis. */
const otherSide = ({ source, targets: [target = source] }: ScreenLane, language: string): string =>
  language === source ? target : source;

/**
 * The button to choose a phrase, and what it opens. A panel for both people speaks to the visitors, whose language it has. Nothing
 * without phrases in the languages of both people.
 */
export function Phrases(props: {
  lane: ScreenLane;
  /** The language of its panel. */
  language: string;
  /** The languages of its readers. */
  languages: readonly string[];
  isTurned: boolean;
}) {
  const { lane, language, languages, isTurned } = props;
  const isOpen = useSignal(false);
  // A chosen phrase does not outlast the outage, nor the conversation.
  useEffect(() => () => show(null), []);
  const to = languages.length > 1 ? language : otherSide(lane, language);
  const phrases = (screen.value?.phrases ?? []).filter(
    (one) => textIn(one, language) !== undefined && textIn(one, to) !== undefined,
  );
  if (phrases.length === 0) return null;
  const worded = wordedLanguage(language);
  const words = wordingOf(language);
  const close = (): void => {
    isOpen.value = false;
  };
  const choose = (number: number): void => {
    show(number);
    close();
    void act({ do: 'phrase', lane: lane.id, number, language: to });
  };
  return (
    <>
      {phraseFor(languages) !== null && (
        <Button icon={ICONS.back} label={words.back} press={() => show(null)} />
      )}
      <Button icon={ICONS.talk} label={words.phrases} press={() => (isOpen.value = true)} />
      {isOpen.value && (
        <Dialog
          label={words.phrases}
          lane={null}
          lang={worded}
          dir={directionOf(worded)}
          isTurned={isTurned}
          close={close}
        >
          <div class="phrases" lang={language} dir={directionOf(language)}>
            {phrases.map((phrase) => (
              <button type="button" key={phrase.number} onClick={() => choose(phrase.number)}>
                {textIn(phrase, language)}
              </button>
            ))}
          </div>
          <div class="bar">
            <Button icon={ICONS.back} label={words.back} press={close} />
          </div>
        </Dialog>
      )}
    </>
  );
}
