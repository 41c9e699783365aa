import { CaptionLines } from './caption-lines.tsx';
import { directionOf } from './languages.ts';
import { helpText, StatusLine, statusNow } from './status-line.tsx';
import { wordedLanguage, wordingOf } from './wording.ts';

/** The part of the screen for readers of one language. */
export function Panel(props: {
  language: string;
  /** Languages of the state; readers of the other language may have no panel. */
  statusIn: readonly string[];
  letterPx: number;
  isTurned?: boolean;
  children?: preact.ComponentChildren;
}) {
  const { language, statusIn, letterPx, isTurned = false, children } = props;
  const status = statusNow();
  const words = wordingOf(language);
  const worded = wordedLanguage(language);
  const invites = status.kind === 'standby';
  return (
    <section class={isTurned ? 'panel turned' : 'panel'} aria-label={language}>
      <StatusLine languages={statusIn} />
      <div class="body" lang={language} dir={directionOf(language)}>
        <CaptionLines language={language} letterPx={letterPx} />
        {invites && (
          <div class="attract" lang={worded} dir={directionOf(worded)}>
            <p class="invitation">{words.begin}</p>
            <p class="notice">{words.notice}</p>
          </div>
        )}
      </div>
      {children ?? <Foot language={language} help={isTurned ? helpText(status, words) : null} />}
    </section>
  );
}

function Foot({ language, help }: { language: string; help: string | null }) {
  if (help === null) return null;
  const worded = wordedLanguage(language);
  return (
    <p class="help" lang={worded} dir={directionOf(worded)}>
      {help}
    </p>
  );
}
