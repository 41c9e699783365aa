import { directionOf, ownName } from '../../core/language-names.ts';
import { wordedLanguage } from '../../device/screen/wording.ts';
import type { ScreenLane, ScreenTyping } from '../../protocol/screen.ts';
import { About } from './about.tsx';
import { Bar } from './bar.tsx';
import { CaptionLines } from './caption-lines.tsx';
import { Cover } from './cover.tsx';
import { HelpLine } from './help.tsx';
import { statusNow } from './status.ts';
import { StatusLine } from './status-line.tsx';
import { StillThere } from './still-there.tsx';

export type Speaker = 'source' | 'target';

/** The part of the screen for readers of one language: what they see, and their buttons, in their language. */
export function Panel(props: {
  lane: ScreenLane;
  language: string;
  /** Who reads it; both, if there is one panel for all. */
  speakers: readonly Speaker[];
  /** Languages of the status line; readers of the other language may have no panel. */
  statusIn: readonly string[];
  /** The typing directions of its readers. */
  ways: readonly ScreenTyping[];
  letterPx: number;
  isTurned?: boolean;
}) {
  const { lane, language, speakers, statusIn, ways, letterPx, isTurned = false } = props;
  const status = statusNow();
  const { kind } = status;
  const worded = wordedLanguage(language);
  return (
    <section
      class={`panel ${speakers.includes('source') && speakers.length === 1 ? 'source' : 'target'}${isTurned ? ' turned' : ''}`}
      aria-label={ownName(language)}
      lang={worded}
      dir={directionOf(worded)}
    >
      <div class="head">
        <StatusLine lane={lane} language={language} languages={statusIn} />
        {kind !== 'offline' && kind !== 'closed' && (
          <About lane={lane.id} languages={statusIn} isTurned={isTurned} />
        )}
      </div>
      <div class="body" lang={language} dir={directionOf(language)}>
        <CaptionLines language={language} letterPx={letterPx} />
        <Cover lane={lane} status={status} language={language} languages={statusIn} isTurned={isTurned} />
      </div>
      <StillThere lane={lane.id} languages={statusIn} />
      <HelpLine languages={statusIn} />
      <Bar lane={lane} language={language} speakers={speakers} ways={ways} isTurned={isTurned} />
    </section>
  );
}
