import { ownName } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane } from '../../protocol/screen.ts';
import { ICONS, Icon } from './icon.tsx';
import { shownLevel, statusNow, statusText } from './status.ts';
import { screen } from './store.ts';

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** Whose panel it is, what the kiosk does, and the level of the microphone. */
export function StatusLine(props: { lane: ScreenLane; language: string; languages: readonly string[] }) {
  const { lane, language, languages } = props;
  const status = statusNow();
  const isHeld = lane.turn?.mode === 'hold';
  const level = shownLevel(status, screen.value?.level ?? 0);
  return (
    <div class="status" data-kind={status.kind}>
      <Icon path={ICONS.person} />
      <bdi class="whose" lang={language}>
        {ownName(language)}
      </bdi>
      <span class="state" role="status">
        {languages.map((one) => (
          <bdi key={one} lang={wordedLanguage(one)}>
            {statusText(status, wordingOf(one), isHeld)}
          </bdi>
        ))}
      </span>
      <span class="level" aria-hidden="true">
        {LEVELS.map((step) => (
          <i key={step} class={step <= level ? 'on' : ''} />
        ))}
      </span>
    </div>
  );
}
