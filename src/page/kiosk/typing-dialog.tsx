import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { directionOf, ownName } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane, ScreenTyping } from '../../protocol/screen.ts';
import { LONGEST_TYPED } from '../../protocol/screen-size.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ICONS } from './icon.tsx';
import { keysOf } from './keyboard-rows.ts';
import { act } from './link.ts';

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
  const state = useSignal<'typing' | 'speaking' | 'failed'>('typing');
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
  const add = (key: string): void => {
    text.value = (text.value + key).slice(0, LONGEST_TYPED);
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
      <div class="keys" lang={language}>
        {keysOf(language).map((row) => (
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

function withoutLast(text: string): string {
  const letters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  return letters.slice(0, -1).join('');
}
