import { useSignal } from '@preact/signals';
import { directionOf } from '../../core/language-names.ts';
import { WORDED_LANGUAGES, wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import { Alternate, useLanguageInTurn } from './alternate.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ICONS, Icon } from './icon.tsx';

/** The last entry of the list, for visitors whose language is not in it. */
export function Another({ offer, now }: { offer: readonly string[]; now: string }) {
  const isOpen = useSignal(false);
  const texts = wordedOf(offer).map((language) => ({ language, text: wordingOf(language).another }));
  return (
    <>
      <button type="button" class="another" onClick={() => (isOpen.value = true)}>
        <Icon path={ICONS.globe} />
        <Alternate look="now" texts={texts} now={wordedLanguage(now)} />
      </button>
      {isOpen.value && <AnotherDialog offer={offer} close={() => (isOpen.value = false)} />}
    </>
  );
}

/** In every language of the page: first in those that are not offered, for its reader does not know the others. */
function AnotherDialog({ offer, close }: { offer: readonly string[]; close: () => void }) {
  const offered = wordedOf(offer);
  const all = [...new Set([...WORDED_LANGUAGES.filter((one) => !offered.includes(one)), ...offered])];
  const now = useLanguageInTurn(all);
  const words = wordingOf(now);
  return (
    <Dialog label={words.another} lane={null} lang={now} dir={directionOf(now)} close={close}>
      <div class="told">
        <h2>{words.another}</h2>
        <p>{words.anotherHelp}</p>
      </div>
      <div class="bar">
        <Button icon={ICONS.back} label={words.back} press={close} />
      </div>
    </Dialog>
  );
}

const wordedOf = (languages: readonly string[]): string[] => [...new Set(languages.map(wordedLanguage))];
