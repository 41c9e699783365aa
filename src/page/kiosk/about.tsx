import { directionOf } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ICONS } from './icon.tsx';
import { Opener } from './opener.tsx';
import { screen } from './store.ts';

/** A small button, and what it opens: what this is, what it keeps, and who runs it. */
export function About(props: {
  /** The lane of the conversation; null: reading begins none. */
  lane: string | null;
  /** The languages of those who read here. */
  languages: readonly string[];
  isTurned?: boolean;
}) {
  const { lane, languages, isTurned = false } = props;
  return (
    <Opener
      kind="about"
      icon={ICONS.about}
      name={wordingOf(languages[0] ?? 'en').about}
      languages={languages}
    >
      {(opened, close) => <AboutDialog lane={lane} languages={opened} isTurned={isTurned} close={close} />}
    </Opener>
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
