import type { ComponentChildren } from 'preact';
import { directionOf, ownName } from '../../core/language-names.ts';
import { CaptionLines } from './caption-lines.tsx';
import { Cover } from './cover.tsx';
import { statusNow } from './status.ts';
import { StatusLine } from './status-line.tsx';

/** The part of the screen for readers of one language. */
export function Panel(props: {
  language: string;
  /** Languages of the status line; readers of the other language may have no panel. */
  statusIn: readonly string[];
  letterPx: number;
  isTurned?: boolean;
  children?: ComponentChildren;
}) {
  const { language, statusIn, letterPx, isTurned = false, children } = props;
  return (
    <section class={isTurned ? 'panel turned' : 'panel'} aria-label={ownName(language)}>
      <StatusLine languages={statusIn} />
      <div class="body" lang={language} dir={directionOf(language)}>
        <CaptionLines language={language} letterPx={letterPx} />
        <Cover status={statusNow()} language={language} />
      </div>
      {children}
    </section>
  );
}
