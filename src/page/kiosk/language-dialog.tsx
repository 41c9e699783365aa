import { useSignal } from '@preact/signals';
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
  const chosen = useSignal(lane.visitor);
  const refused = useSignal<string | null>(null);
  const choose = async (language: string): Promise<void> => {
    chosen.value = language;
    refused.value = null;
    if (await act({ do: 'language', lane: lane.id, language })) close();
    else {
      chosen.value = lane.visitor;
      refused.value = language;
    }
  };
  const told = refused.value;
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
            isChosen={language === chosen.value}
            press={() => void choose(language)}
          />
        ))}
      </div>
      {told !== null && (
        <p class="refused" role="alert" lang={wordedLanguage(told)} dir={directionOf(wordedLanguage(told))}>
          {wordingOf(told).refused}
        </p>
      )}
      <div class="bar">
        <Button icon={ICONS.end} label={words.cancel} press={close} />
      </div>
    </Dialog>
  );
}
