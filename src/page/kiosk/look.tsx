import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { directionOf } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ICONS } from './icon.tsx';
import { type Look, lookOf, NO_LOOKS, type Side, withLook } from './looks.ts';
import { Opener } from './opener.tsx';
import type { Sizes } from './sizes.ts';
import { screen, talkNow } from './store.ts';

/** Before a conversation, a chosen look ends this long after the last touch or key (ms): its chooser has left. */
const ABANDONED_MS = 60_000;

const looks = signal(NO_LOOKS);

const more = matchMedia('(prefers-contrast: more)');
const prefersContrast = signal(more.matches);
more.addEventListener('change', ({ matches }) => {
  prefersContrast.value = matches;
});

/** The look of the part of the page that these sides read. */
export const lookNow = (sides: readonly Side[]): Look =>
  lookOf(looks.value, talkNow(), sides, { isLarge: false, isContrast: prefersContrast.value });

/** Classes of a part of the page that looks so. */
export const lookClass = ({ isLarge, isContrast }: Look): string =>
  `${isLarge ? ' large' : ''}${isContrast ? ' contrast' : ''}`;

/** While no conversation is under way, a look that someone has left behind ends after a while. */
export function useUsualLookAgain(): void {
  const isWaiting = screen.value?.isTalking !== true && looks.value !== NO_LOOKS;
  useEffect(() => {
    if (!isWaiting) return;
    let timer = 0;
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        looks.value = NO_LOOKS;
      }, ABANDONED_MS);
    };
    wait();
    for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, wait, true);
    return () => {
      clearTimeout(timer);
      for (const kind of ['pointerdown', 'keydown']) removeEventListener(kind, wait, true);
    };
  }, [isWaiting]);
}

function nameIn(language: string): string {
  const { largeLetters, highContrast } = wordingOf(language);
  return `${largeLetters}, ${highContrast}`;
}

/** The small button "Aa": how these sides want their part of the page to look. */
export function LookSwitch(props: {
  /** The lane of the conversation; null: choosing begins none. */
  lane: string | null;
  languages: readonly string[];
  sides: readonly Side[];
  sizes: Sizes;
  isTurned?: boolean;
}) {
  const { lane, languages, sides, sizes, isTurned = false } = props;
  return (
    <Opener kind="look" icon={ICONS.letters} name={nameIn(languages[0] ?? 'en')} languages={languages}>
      {([language = 'en'], close) => (
        <LookDialog
          lane={lane}
          language={language}
          sides={sides}
          canGrow={sizes.large !== null}
          isTurned={isTurned}
          close={close}
        />
      )}
    </Opener>
  );
}

function LookDialog(props: {
  lane: string | null;
  language: string;
  sides: readonly Side[];
  /** Whether there is room for larger letters. */
  canGrow: boolean;
  isTurned: boolean;
  close: () => void;
}) {
  const { lane, language, sides, canGrow, isTurned, close } = props;
  const words = wordingOf(language);
  const worded = wordedLanguage(language);
  const look = lookNow(sides);
  const { isLarge, isContrast } = look;
  const choose = (changed: Partial<Look>): void => {
    looks.value = withLook(looks.value, talkNow(), sides, { ...look, ...changed });
  };
  return (
    <Dialog
      label={nameIn(language)}
      lane={lane}
      lang={worded}
      dir={directionOf(worded)}
      isTurned={isTurned}
      close={close}
    >
      <div class="choices">
        {canGrow && (
          <Button
            icon={ICONS.letters}
            label={words.largeLetters}
            isChosen={isLarge}
            press={() => choose({ isLarge: !isLarge })}
          />
        )}
        <Button
          icon={ICONS.contrast}
          label={words.highContrast}
          isChosen={isContrast}
          press={() => choose({ isContrast: !isContrast })}
        />
      </div>
      <div class="bar">
        <Button icon={ICONS.back} label={words.back} press={close} />
      </div>
    </Dialog>
  );
}
