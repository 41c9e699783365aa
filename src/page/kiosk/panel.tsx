import { useSignal } from '@preact/signals';
import { directionOf, ownName } from '../../core/language-names.ts';
import { wordedLanguage } from '../../device/screen/wording.ts';
import type { ScreenLane, ScreenTyping } from '../../protocol/screen.ts';
import { About } from './about.tsx';
import { Bar } from './bar.tsx';
import { CaptionLines } from './caption-lines.tsx';
import { Cover } from './cover.tsx';
import { HelpLine } from './help.tsx';
import { LiveCaptions } from './live-captions.tsx';
import { LookSwitch, lookClass, lookNow } from './look.tsx';
import type { Side } from './looks.ts';
import { letterStyle, lettersOf, type Sizes } from './sizes.ts';
import { statusNow } from './status.ts';
import { StatusLine } from './status-line.tsx';
import { StillThere } from './still-there.tsx';

/** The part of the screen for readers of one language: what they see, and their buttons, in their language. */
export function Panel(props: {
  lane: ScreenLane;
  language: string;
  /** Who reads it; both, if there is one panel for all. */
  speakers: readonly Side[];
  /** Languages of the status line; readers of the other language may have no panel. */
  statusIn: readonly string[];
  /** The typing directions of its readers. */
  ways: readonly ScreenTyping[];
  sizes: Sizes;
  isTurned?: boolean;
}) {
  const { lane, language, speakers, statusIn, ways, sizes, isTurned = false } = props;
  const status = statusNow();
  const { kind } = status;
  const worded = wordedLanguage(language);
  const look = lookNow(speakers);
  const letters = lettersOf(look, sizes);
  const isRead = useSignal(false);
  return (
    <section
      class={`panel ${speakers.includes('source') && speakers.length === 1 ? 'source' : 'target'}${isTurned ? ' turned' : ''}${lookClass(look)}`}
      style={letterStyle(letters)}
      aria-label={ownName(language)}
      lang={worded}
      dir={directionOf(worded)}
      // Who comes with Tab uses the keyboard, and perhaps a screen reader. No page can find out more.
      onKeyUp={({ key }) => {
        if (key === 'Tab') isRead.value = true;
      }}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) isRead.value = false;
      }}
    >
      <div class="head">
        <StatusLine lane={lane} language={language} languages={statusIn} />
        {kind !== 'offline' && kind !== 'closed' && (
          <>
            <LookSwitch
              lane={lane.id}
              languages={statusIn}
              sides={speakers}
              sizes={sizes}
              isTurned={isTurned}
            />
            <About lane={lane.id} languages={statusIn} isTurned={isTurned} />
          </>
        )}
      </div>
      <div class="body" lang={language} dir={directionOf(language)}>
        <CaptionLines language={language} letterPx={letters.letter} />
        <LiveCaptions language={language} isRead={isRead.value} />
        <Cover lane={lane} status={status} language={language} languages={statusIn} isTurned={isTurned} />
      </div>
      <StillThere lane={lane.id} languages={statusIn} />
      <HelpLine languages={statusIn} />
      <Bar
        lane={lane}
        language={language}
        speakers={speakers}
        ways={ways}
        isLarge={look.isLarge}
        isTurned={isTurned}
      />
    </section>
  );
}
