import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { directionOf } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ICONS, Icon } from './icon.tsx';
import { isConnected, screen } from './store.ts';

/** A small button, and what it opens: what this is, what it keeps, and who runs it. */
export function About(props: {
  /** The lane of the conversation; null: reading begins none. */
  lane: string | null;
  /** The languages of those who read here. */
  languages: readonly string[];
  isTurned?: boolean;
}) {
  const { lane, languages, isTurned = false } = props;
  /** The languages when it was opened: on the idle page they alternate. */
  const opened = useSignal<readonly string[] | null>(null);
  const [first = 'en'] = languages;
  const worded = wordedLanguage(first);
  const close = () => {
    opened.value = null;
  };
  const isAnswered = isConnected.value;
  useEffect(() => {
    if (!isAnswered) close();
  }, [isAnswered]);
  return (
    <>
      <button
        type="button"
        class="about"
        aria-label={wordingOf(first).about}
        lang={worded}
        onClick={() => (opened.value = languages)}
      >
        <Icon path={ICONS.about} />
      </button>
      {opened.value !== null && (
        <AboutDialog lane={lane} languages={opened.value} isTurned={isTurned} close={close} />
      )}
    </>
  );
}

function AboutDialog(props: {
  lane: string | null;
  languages: readonly string[];
  isTurned: boolean;
  close: () => void;
}) {
  const { lane, languages, isTurned, close } = props;
  const { notices = [], operator = '' } = screen.value ?? {};
  const [first = 'en'] = languages;
  const words = wordingOf(first);
  return (
    <Dialog
      label={words.about}
      lane={lane}
      lang={wordedLanguage(first)}
      dir={directionOf(wordedLanguage(first))}
      isTurned={isTurned}
      close={close}
    >
      <div class="told">
        {languages.map((language) => {
          const own = wordingOf(language);
          const notice = notices.find((one) => one.language === language);
          const worded = wordedLanguage(language);
          return (
            <div key={language} lang={worded} dir={directionOf(worded)}>
              <h2>{own.about}</h2>
              {notice === undefined ? (
                <p>{own.aboutAi}</p>
              ) : (
                <p lang={language} dir={directionOf(language)}>
                  {notice.text}
                </p>
              )}
              <p>{own.aboutKept}</p>
              {operator !== '' && (
                <p>
                  {own.aboutBy}: <bdi>{operator}</bdi>
                </p>
              )}
            </div>
          );
        })}
      </div>
      <div class="bar">
        <Button icon={ICONS.back} label={words.back} press={close} />
      </div>
    </Dialog>
  );
}
