import { directionOf } from '../../core/language-names.ts';
import { type Wording, wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenHelp } from '../../protocol/screen.ts';
import { Button } from './button.tsx';
import { ICONS, Icon } from './icon.tsx';
import { act } from './link.ts';
import { isConnected, screen } from './store.ts';

/** Calls a member of staff. Nothing where visitors cannot call. */
export function HelpButton({
  lane,
  language,
  isShort,
}: {
  lane: string;
  language: string;
  isShort: boolean;
}) {
  const help = screen.value?.help ?? null;
  if (help === null) return null;
  const words = wordingOf(language);
  const isOff = !isConnected.value || !help.mayCall;
  return (
    <Button
      icon={ICONS.bell}
      label={isShort ? words.staff : words.callStaff}
      name={words.callStaff}
      look="staff"
      item="help"
      off={isOff ? (isCallShown() ? helpText(help, words) : words.wait) : null}
      press={() => void act({ do: 'help', lane })}
    />
  );
}

/** Whether there is a call that visitors must know of. */
export function isCallShown(): boolean {
  const { state = 'none' } = screen.value?.help ?? {};
  return isConnected.value && state !== 'none' && state !== 'calling';
}

/** What has become of the call, in each of these languages; nothing without a call. */
export function HelpLine({ languages }: { languages: readonly string[] }) {
  const help = screen.value?.help ?? null;
  const isShown = help !== null && isCallShown();
  return (
    <div class="call" data-state={help?.state} role="status">
      {isShown && <Icon path={ICONS.bell} />}
      {isShown &&
        languages.map((language) => {
          const worded = wordedLanguage(language);
          return (
            <bdi key={language} lang={worded} dir={directionOf(worded)}>
              {helpText(help, wordingOf(language))}
            </bdi>
          );
        })}
    </div>
  );
}

function helpText({ state, by }: ScreenHelp, words: Wording): string {
  switch (state) {
    case 'none':
    case 'calling':
      return '';
    case 'answered':
      return by === null ? words.staffComing : words.coming.replace('{name}', () => by);
    default:
      return words[state];
  }
}
