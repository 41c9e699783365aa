import type { ScreenStatus } from '../protocol/screen.ts';
import { isConnected, screen } from './store.ts';
import { type Wording, wordedLanguage, wordingOf } from './wording.ts';

/** The agent's status, or that the agent itself does not answer. */
export function statusNow(): ScreenStatus {
  const status = screen.value?.status;
  return isConnected.value && status !== undefined ? status : { kind: 'offline', cause: 'connection' };
}

/** What the kiosk does, in a few words. */
export function statusText(status: ScreenStatus, language: string): string {
  const words = wordingOf(language);
  switch (status.kind) {
    case 'standby':
      return words.listening;
    case 'closed':
      return status.until === null
        ? words.closed
        : words.until.replace('{t}', timeOf(status.until, language));
    default:
      return words[status.kind];
  }
}

/** What to do when the kiosk cannot interpret; null: it can. */
export function helpText(status: ScreenStatus, words: Wording): string | null {
  if (status.kind !== 'offline') return null;
  return { connection: words.wait, microphone: words.microphone, loudspeaker: words.loudspeaker }[
    status.cause
  ];
}

function timeOf(until: string, language: string): string {
  const at = new Date(until);
  const isToday = at.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ weekday: 'short' } as const);
  return new Intl.DateTimeFormat(language, { ...day, hour: 'numeric', minute: '2-digit' }).format(at);
}

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** The state in words and as a colour, and the level of the microphone. */
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
            {statusText(status, language)}
          </bdi>
        ))}
      </span>
    </div>
  );
}
