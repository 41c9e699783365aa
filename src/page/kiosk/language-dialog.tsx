import { directionOf, ownName } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane } from '../../protocol/screen.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ICONS } from './icon.tsx';
import { act } from './link.ts';

/** The languages to choose from, each under its own name. */
export function LanguageDialog(props: {
  lane: ScreenLane;
  /** The language of its reader. */
  language: string;
  isTurned: boolean;
  close: () => void;
}) {
  const { lane, language: own, isTurned, close } = props;
  const worded = wordedLanguage(own);
  const words = wordingOf(own);
  const choose = (language: string): void => {
    void act({ do: 'language', lane: lane.id, language });
    close();
  };
  return (
    <Dialog
      label={words.language}
      lane={lane.id}
      lang={worded}
      dir={directionOf(worded)}
      isTurned={isTurned}
      close={close}
    >
      <div class="choices">
        {lane.offer.map((language) => (
          <Button
            key={language}
            label={ownName(language)}
            lang={language}
            isChosen={language === lane.visitor}
            press={() => choose(language)}
          />
        ))}
      </div>
      <div class="bar">
        <Button icon={ICONS.end} label={words.cancel} press={close} />
      </div>
    </Dialog>
  );
}
