import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { directionOf } from '../../core/language-names.ts';
import { type Wording, wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane, ScreenStatus } from '../../protocol/screen.ts';
import { HelpButton, isCallShown } from './help.tsx';
import { openingText } from './opening.ts';
import { Parts } from './parts.tsx';
import { Phrases, PhraseText, phraseFor } from './phrases.tsx';
import { endsAt, isEmpty, screen } from './store.ts';

const MINUTE_MS = 60_000;

/** The panel's text in place of captions: an invitation, or what to do when the kiosk does not interpret. */
export function Cover(props: {
  lane: ScreenLane;
  status: ScreenStatus;
  language: string;
  /** The languages of all its readers. */
  languages: readonly string[];
  isTurned: boolean;
}) {
  const { lane, status, language, languages, isTurned } = props;
  const worded = wordedLanguage(language);
  const words = wordingOf(language);
  const place = { class: 'cover', lang: worded, dir: directionOf(worded) };
  switch (status.kind) {
    case 'muted':
    case 'listening':
    case 'standby': {
      const isHeld = lane.turn?.mode === 'hold';
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
    case 'offline':
    case 'closed': {
      const readers = languages.map((one) => ({ language: one, isClerk: isClerk(lane, one) }));
      // Without the broker, the button would be grey, and the clerk is the staff.
      const mayCall = screen.value?.help?.mayCall === true || isCallShown();
      const isOffered = mayCall && readers.some((reader) => !reader.isClerk);
      const phrase = phraseFor(languages);
      return (
        <div {...place}>
          <Parts key={phrase?.number} dir={place.dir}>
            {phrase !== null ? (
              <PhraseText phrase={phrase} languages={languages} />
            ) : (
              readers.map((reader) => (
                <Trouble key={reader.language} status={status} isOffered={isOffered} {...reader} />
              ))
            )}
          </Parts>
          <div class="aid">
            {isOffered && <HelpButton lane={lane.id} language={language} isShort={false} />}
            <Phrases lane={lane} language={language} languages={languages} isTurned={isTurned} />
          </div>
        </div>
      );
    }
    default:
      return null;
  }
}

/** What it means for a reader that the kiosk does not interpret, and what to do now. */
function Trouble(props: {
  status: Extract<ScreenStatus, { kind: 'offline' | 'closed' }>;
  language: string;
  isClerk: boolean;
  /** Whether there is a button that calls the staff. */
  isOffered: boolean;
}) {
  const { status, language, isClerk, isOffered } = props;
  const worded = wordedLanguage(language);
  const words = wordingOf(language);
  const headline =
    status.kind === 'closed'
      ? words.closedHere
      : status.cause === 'connection'
        ? words.offline
        : words.broken;
  const ask = isClerk || isOffered ? '' : words.ask;
  return (
    <div lang={worded} dir={directionOf(worded)}>
      <p class="trouble">{headline}</p>
      {status.kind === 'closed' && status.until !== null && (
        <Opening until={status.until} language={worded} />
      )}
      <p class="help">{status.kind === 'offline' ? helpOf(status.cause, words, isClerk) : ask}</p>
    </div>
  );
}

function helpOf(
  cause: Extract<ScreenStatus, { kind: 'offline' }>['cause'],
  words: Wording,
  isClerk: boolean,
): string {
  const { wait, microphone, loudspeaker } = words;
  const { waitClerk, microphoneClerk, loudspeakerClerk } = words;
  const help = isClerk
    ? { connection: waitClerk, microphone: microphoneClerk, loudspeaker: loudspeakerClerk }
    : { connection: wait, microphone, loudspeaker };
  return help[cause];
}

/** Whether its reader works here: visitors read the other language. */
const isClerk = ({ source, targets, visitor }: ScreenLane, language: string): boolean =>
  targets[0] !== undefined && targets[0] !== source && language !== visitor;

function Opening({ until, language }: { until: string; language: string }) {
  const now = useSignal(new Date());
  useEffect(() => {
    // At midnight "tomorrow" becomes "today".
    const timer = setInterval(() => {
      now.value = new Date();
    }, MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const text = openingText(new Date(until), now.value, language);
  return <p class="opening">{wordingOf(language).until.replace('{t}', text)}</p>;
}
