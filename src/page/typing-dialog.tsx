import { useSignal } from '@preact/signals';
import { directionOf } from '../core/screen/languages.ts';
import { wordedLanguage, wordingOf } from '../core/screen/wording.ts';
import type { ScreenLane } from '../protocol/screen.ts';
import { LONGEST_TYPED } from '../protocol/screen-size.ts';
import { Button } from './bar.tsx';
import { Dialog } from './dialog.tsx';
import { ICONS } from './icon.tsx';
import { keysOf } from './keyboard-rows.ts';
import { act } from './link.ts';

/** For people who do not speak: the service translates and speaks what they type. */
export function TypingDialog({ lane, close }: { lane: ScreenLane; close: () => void }) {
  const text = useSignal('');
  const state = useSignal<'typing' | 'speaking' | 'failed'>('typing');
  const worded = wordedLanguage(lane.source);
  const words = wordingOf(lane.source);
  const isEmpty = text.value.trim() === '';
  const add = (key: string): void => {
    text.value = (text.value + key).slice(0, LONGEST_TYPED);
  };
  const send = async (): Promise<void> => {
    if (isEmpty || state.value === 'speaking') return;
    state.value = 'speaking';
    const isDone = await act({ do: 'say', lane: lane.id, text: text.value.trim() });
    if (isDone) close();
    else state.value = 'failed';
  };
  return (
    <Dialog label={words.type} lang={worded} dir={directionOf(worded)} close={close}>
      <form
        class="typing"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <input
          aria-label={words.type}
          lang={lane.source}
          dir="auto"
          maxLength={LONGEST_TYPED}
          autocomplete="off"
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
        <p class="help" role="status">
          {state.value === 'failed' ? words.failed : state.value === 'speaking' ? words.speaking : ''}
        </p>
      </form>
      <div class="keys" lang={lane.source}>
        {keysOf(lane.source).map((row) => (
          <div class="row" key={row.join('')}>
            {row.map((key) => (
              <button type="button" key={key} onClick={() => add(key)}>
                {key}
              </button>
            ))}
          </div>
        ))}
        <div class="row">
          <button type="button" class="wide" aria-label="space" onClick={() => add(' ')}>
            ␣
          </button>
          <button type="button" aria-label="delete" onClick={() => (text.value = withoutLast(text.value))}>
            ⌫
          </button>
        </div>
      </div>
      <div class="bar">
        <Button icon={ICONS.end} label={words.cancel} press={close} />
        <Button icon={ICONS.louder} label={words.send} isOff={isEmpty} press={() => void send()} />
      </div>
    </Dialog>
  );
}

function withoutLast(text: string): string {
  const letters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  return letters.slice(0, -1).join('');
}
