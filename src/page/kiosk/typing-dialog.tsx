import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { directionOf, ownName } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane, ScreenTyping } from '../../protocol/screen.ts';
import { LONGEST_TYPED } from '../../protocol/screen-size.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ICONS } from './icon.tsx';
import { Keyboard } from './keyboard.tsx';
import { act } from './link.ts';
import { beginsSentence, withKey, withoutLast } from './typed-text.ts';

/** Language tag for automatic detection. */
const ANY = 'auto';
/** Makes a text begin on the left in any script, because its arrow points to the right. */
const LEFT_TO_RIGHT = '\u200e';

/** For people who do not speak: the service translates and speaks what they type. */
export function TypingDialog(props: {
  lane: ScreenLane;
  ways: readonly ScreenTyping[];
  isTurned: boolean;
  close: () => void;
}) {
  const { lane, ways, isTurned, close } = props;
  const field = useRef<HTMLInputElement>(null);
  const chosen = useSignal(ways[0]?.from ?? lane.source);
  const text = useSignal('');
  /** What is before the cursor. */
  const before = useSignal('');
  const state = useSignal<'typing' | 'speaking' | 'failed'>('typing');
  useEffect(() => {
    // Of a field's cursor, too.
    const moved = (): void => {
      const { value = '', selectionStart = null } = field.current ?? {};
      before.value = value.slice(0, selectionStart ?? value.length);
    };
    document.addEventListener('selectionchange', moved);
    return () => document.removeEventListener('selectionchange', moved);
  }, []);
  const way = ways.find(({ from }) => from === chosen.value);
  const others = ways.filter((one) => one !== way);
  const language = chosen.value;
  const worded = wordedLanguage(language);
  const words = wordingOf(language);
  const choose = (from: string): void => {
    chosen.value = from;
    field.current?.focus();
  };
  const isEmpty = text.value.trim() === '';
  /** Changes the text before the cursor; a selection goes. */
  const edit = (change: (before: string, isSelected: boolean) => string): void => {
    const input = field.current;
    if (input === null) return;
    const { value, selectionStart, selectionEnd } = input;
    const [start, end] = [selectionStart ?? value.length, selectionEnd ?? value.length];
    const after = change(value.slice(0, start), start < end);
    if (after.length + value.length - end > LONGEST_TYPED) return;
    input.setRangeText(after, 0, end, 'end');
    text.value = input.value;
    before.value = after;
    // The end of a long text stays in view.
    if (input.selectionEnd === input.value.length) input.scrollLeft = input.scrollWidth;
  };
  const send = async (): Promise<void> => {
    if (isEmpty || state.value === 'speaking') return;
    state.value = 'speaking';
    const isDone = await act({ do: 'say', lane: lane.id, language, text: text.value.trim() });
    if (isDone) close();
    else state.value = 'failed';
  };
  return (
    <Dialog
      label={words.type}
      lane={lane.id}
      lang={worded}
      dir={directionOf(worded)}
      isTurned={isTurned}
      close={close}
    >
      <form
        class="typing"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <input
          ref={field}
          aria-label={`${words.type}: ${ownName(language)}`}
          placeholder={way === undefined ? '' : directionText(way)}
          lang={language}
          dir="auto"
          maxLength={LONGEST_TYPED}
          autocomplete="off"
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
        {others.map(({ from }) => (
          <button
            type="button"
            key={from}
            aria-label={ownName(from)}
            lang={from}
            onClick={() => choose(from)}
          >
            <span>{ownName(from)}</span>
            <abbr>{from.toUpperCase()}</abbr>
          </button>
        ))}
        <p class="help" role="status">
          {state.value === 'failed' ? words.failed : state.value === 'speaking' ? words.speaking : ''}
        </p>
      </form>
      <Keyboard
        language={language}
        words={words}
        begins={beginsSentence(before.value)}
        type={(key) => edit((start) => withKey(start, key))}
        erase={() => edit((start, isSelected) => (isSelected ? start : withoutLast(start)))}
      />
      <div class="bar">
        <Button icon={ICONS.end} label={words.cancel} press={close} />
        <Button
          icon={ICONS.louder}
          label={words.send}
          off={isEmpty ? words.typeFirst : null}
          press={() => void send()}
        />
      </div>
    </Dialog>
  );
}

/** The language to type in, and the language in which the kiosk speaks the text. */
function directionText({ from, into }: ScreenTyping): string {
  return `${LEFT_TO_RIGHT}${from === ANY ? '' : `${ownName(from)} `}→ ${ownName(into)}`;
}
