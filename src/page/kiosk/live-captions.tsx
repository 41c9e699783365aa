import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ScreenText } from '../../protocol/screen.ts';
import { onTexts } from './store.ts';
import { takeWhole } from './whole-sentences.ts';

/** After this time without more text, a sentence without a mark at its end counts as whole (ms). */
const WHOLE_AFTER_MS = 3000;
/** Begins a block: what is before it is whole. */
const BREAK = { text: '', breaks: true };

/**
 * Captions for a screen reader or a braille display: each sentence once, when it is whole. The visible captions announce
 * nothing, because they grow word by word. @param isRead whether a reader of this panel has been found
 */
export function LiveCaptions({ language, isRead }: { language: string; isRead: boolean }) {
  const said = useSignal<readonly { readonly id: number; readonly text: string }[]>([]);
  useEffect(() => {
    if (!isRead) return;
    let begun = '';
    let count = 0;
    let timer = 0;
    const take = (texts: readonly Pick<ScreenText, 'text' | 'breaks'>[]): void => {
      const step = takeWhole(begun, texts);
      begun = step.begun;
      // A sentence that is said twice is announced twice, by another element.
      if (step.whole.length > 0) said.value = step.whole.map((text) => ({ id: ++count, text }));
      clearTimeout(timer);
      if (begun !== '') timer = setTimeout(() => take([BREAK]), WHOLE_AFTER_MS);
    };
    const unlisten = onTexts((texts, how) => {
      const own = texts.filter((one) => one.language === language);
      if (how === 'new' && own.length > 0) take(own);
    });
    return () => {
      unlisten();
      clearTimeout(timer);
      said.value = [];
    };
  }, [language, isRead]);
  return (
    <div class="live" aria-live={isRead ? 'polite' : 'off'}>
      {said.value.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
