import { directionOf } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenStatus } from '../../protocol/screen.ts';
import { HelpButton } from './help.tsx';
import { Parts } from './parts.tsx';
import { endsAt, isEmpty, screen } from './store.ts';

/** The panel's text in place of captions: an invitation, or what to do when the kiosk does not interpret. */
export function Cover({ status, language, lane }: { status: ScreenStatus; language: string; lane: string }) {
  const worded = wordedLanguage(language);
  const words = wordingOf(language);
  const place = { class: 'cover', lang: worded, dir: directionOf(worded) };
  switch (status.kind) {
    case 'muted':
    case 'listening':
    case 'standby': {
      const isHeld = screen.value?.lanes[0]?.turn?.mode === 'hold';
      const notice = screen.value?.notices.find((one) => one.language === language);
      if (status.kind === 'muted' && !isHeld) return null;
      // The question whether somebody is still there needs this space.
      if (endsAt.value !== null) return null;
      // Once something has been said, the captions need this space.
      if (status.kind !== 'standby' && !isEmpty.value) return null;
      return (
        <div {...place}>
          <Parts dir={place.dir}>
            <p class="invitation">{isHeld ? words.hold : words.begin}</p>
            {notice !== undefined && (
              <p class="notice" lang={language} dir={directionOf(language)}>
                {notice.text}
              </p>
            )}
          </Parts>
        </div>
      );
    }
    case 'offline': {
      const todo = { connection: words.wait, microphone: words.microphone, loudspeaker: words.loudspeaker };
      return (
        <div {...place}>
          <Parts dir={place.dir}>
            <p class="trouble">{status.cause === 'connection' ? words.offline : words.broken}</p>
            <p class="help">{todo[status.cause]}</p>
          </Parts>
          <HelpButton lane={lane} language={language} isShort={false} />
        </div>
      );
    }
    case 'closed': {
      const { until } = status;
      return (
        <div {...place}>
          <Parts dir={place.dir}>
            <p class="trouble">
              {until === null ? words.closed : words.until.replace('{t}', timeOf(until, worded))}
            </p>
          </Parts>
          <HelpButton lane={lane} language={language} isShort={false} />
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
