import { type Wording, wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenStatus } from '../../protocol/screen.ts';
import { isConnected, screen } from './store.ts';

/** The agent's status; `offline` if the agent does not answer. */
export function statusNow(): ScreenStatus {
  const status = screen.value?.status;
  return isConnected.value && status !== undefined ? status : { kind: 'offline', cause: 'connection' };
}

/** What the kiosk does, in a word or two. */
export function statusText(status: ScreenStatus, words: Wording): string {
  switch (status.kind) {
    case 'standby':
      return words.listening;
    case 'offline':
      return status.cause === 'connection' ? words.offline : words.broken;
    default:
      return words[status.kind];
  }
}

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** The status in words and as a colour, and the level of the microphone. */
export function StatusLine({ languages }: { languages: readonly string[] }) {
  const status = statusNow();
  const level = status.kind === 'offline' || status.kind === 'closed' ? 0 : (screen.value?.level ?? 0);
  return (
    <div class="status" data-kind={status.kind}>
      <span class="level" aria-hidden="true">
        {LEVELS.map((step) => (
          <i key={step} class={step <= level ? 'on' : ''} />
        ))}
      </span>
      <span class="state" role="status">
        {languages.map((language) => (
          <bdi key={language} lang={wordedLanguage(language)}>
            {statusText(status, wordingOf(language))}
          </bdi>
        ))}
      </span>
    </div>
  );
}
