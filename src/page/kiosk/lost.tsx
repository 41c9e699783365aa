import { directionOf } from '../../core/language-names.ts';
import { WORDED_LANGUAGES, wordingOf } from '../../device/screen/wording.ts';
import { Alternate, useLanguageInTurn } from './alternate.tsx';
import { lookClass, lookNow } from './look.tsx';

/** The agent has not answered since the page was loaded. The languages of the kiosk are unknown, so the page uses all of its own. */
export function Lost() {
  const now = useLanguageInTurn(WORDED_LANGUAGES);
  const texts = WORDED_LANGUAGES.map((language) => ({ language, text: wordingOf(language).wait }));
  return (
    <section class={`idle lost${lookClass(lookNow([]))}`}>
      <ul>
        {WORDED_LANGUAGES.map((language) => (
          <li key={language} lang={language} dir={directionOf(language)}>
            {wordingOf(language).offline}
          </li>
        ))}
      </ul>
      <Alternate look="wait" texts={texts} now={now} />
    </section>
  );
}
