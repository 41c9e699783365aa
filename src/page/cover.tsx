import { directionOf } from '../core/screen/languages.ts';
import { wordedLanguage, wordingOf } from '../core/screen/wording.ts';
import type { ScreenStatus } from '../protocol/screen.ts';
import { isEmpty } from './store.ts';

/** What the panel says in place of captions: an invitation, or what to do when the kiosk does not interpret. */
export function Cover({ status, language }: { status: ScreenStatus; language: string }) {
  const worded = wordedLanguage(language);
  const words = wordingOf(language);
  const place = { class: 'cover', lang: worded, dir: directionOf(worded) };
  switch (status.kind) {
    case 'listening':
    case 'standby':
      // Before a conversation begins, people learn what interprets.
      if (status.kind === 'listening' && !isEmpty.value) return null;
      return (
        <div {...place}>
          <p class="invitation">{words.begin}</p>
          <p class="notice">{words.notice}</p>
        </div>
      );
    case 'offline': {
      const todo = { connection: words.wait, microphone: words.microphone, loudspeaker: words.loudspeaker };
      return (
        <div {...place}>
          <p class="help">{todo[status.cause]}</p>
        </div>
      );
    }
    case 'closed': {
      if (status.until === null) return <div {...place} />;
      return (
        <div {...place}>
          <p class="help">{words.until.replace('{t}', timeOf(status.until, worded))}</p>
        </div>
      );
    }
    default:
      return null;
  }
}

function timeOf(until: string, language: string): string {
  const at = new Date(until);
  const isToday = at.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ weekday: 'long' } as const);
  return new Intl.DateTimeFormat(language, { ...day, hour: 'numeric', minute: '2-digit' }).format(at);
}
