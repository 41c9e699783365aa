import { ownName } from '../../core/language-names.ts';
import { type Wording, wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane, ScreenStatus } from '../../protocol/screen.ts';
import { ICONS, Icon } from './icon.tsx';
import { isConnected, screen } from './store.ts';

/** The agent's status; `offline` if the agent does not answer. */
export function statusNow(): ScreenStatus {
  const status = screen.value?.status;
  return isConnected.value && status !== undefined ? status : { kind: 'offline', cause: 'connection' };
}

/** What the kiosk does, in a word or two. A closed microphone is normal where a button opens it. */
export function statusText(status: ScreenStatus, words: Wording, isHeld: boolean): string {
  switch (status.kind) {
    case 'standby':
      return words.listening;
    case 'offline':
      return status.cause === 'connection' ? words.offline : words.broken;
    case 'muted':
      return isHeld ? '' : words.muted;
    default:
      return words[status.kind];
  }
}

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** Whose panel it is, what the kiosk does, and the level of the microphone. */
export function StatusLine(props: { lane: ScreenLane; language: string; languages: readonly string[] }) {
  const { lane, language, languages } = props;
  const status = statusNow();
  const isHeld = lane.turn?.mode === 'hold';
  const level = status.kind === 'offline' || status.kind === 'closed' ? 0 : (screen.value?.level ?? 0);
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
