import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Wording } from '../../device/screen/wording.ts';
import { ICONS, Icon } from './icon.tsx';
import { type Key, keyboardOf, signOf } from './keyboard-rows.ts';

/** How long a key is held until it offers its other letters (ms), as on telephones. */
const LONG_PRESS_MS = 400;

/** The keys of a language. A touch leaves the focus, and the cursor, in the field. */
export function Keyboard(props: {
  language: string;
  words: Wording;
  /** Whether the next letter begins a sentence. */
  begins: boolean;
  type: (text: string) => void;
  erase: () => void;
}) {
  const { language, words, begins, type, erase } = props;
  /** The state of the shift key; null: nobody has pressed it, and the place in the sentence decides. */
  const wanted = useSignal<boolean | null>(null);
  const hasCapitals = keyboardOf(language, false)?.shift === 'capitals';
  const isShifted = wanted.value ?? (hasCapitals && begins);
  const keyboard = keyboardOf(language, isShifted);
  useEffect(() => {
    wanted.value = null;
  }, [language]);
  const latest = useRef({ type, erase });
  latest.current = { type, erase };
  // Rendering every key again after each letter would make a slow device lag behind the finger.
  return useMemo(() => {
    if (keyboard === null) return <p class="keys help">{words.needsKeyboard}</p>;
    const typed = (text: string): void => {
      latest.current.type(text);
      wanted.value = null;
    };
    const { rows, marks, shift } = keyboard;
    const letters = (keys: readonly Key[]) =>
      keys.map((key, at) => (
        <LetterKey key={`${language} ${at}`} letter={key} language={language} type={typed} />
      ));
    return (
      // Keyboards are not mirrored: an Arabic one begins on the left, too.
      <div class="keys" lang={language} dir="ltr">
        {rows.map((row, at) => (
          <div class="row" key={`${language} ${at}`}>
            {letters(row)}
          </div>
        ))}
        <div class="row">
          {shift !== 'none' && (
            <ActionKey
              icon={ICONS.shift}
              name={words.shift}
              isOn={isShifted}
              press={() => (wanted.value = !isShifted)}
            />
          )}
          {letters(marks[0])}
          <ActionKey
            look="wide"
            icon={ICONS.space}
            name={words.space}
            press={() => latest.current.type(' ')}
          />
          {letters(marks[1])}
          <ActionKey icon={ICONS.erase} name={words.erase} press={() => latest.current.erase()} />
        </div>
      </div>
    );
  }, [keyboard, isShifted, language]);
}

const prevent = (event: Event): void => event.preventDefault();
/** A touch moves the focus by the mouse event that follows, and a long one opens a menu of the browser. */
const KEEP_FOCUS = { onMouseDown: prevent, onContextMenu: prevent };

function ActionKey(props: { icon: string; name: string; look?: string; isOn?: boolean; press: () => void }) {
  const { icon, name, look, isOn, press } = props;
  return (
    <button type="button" class={look} aria-label={name} aria-pressed={isOn} onClick={press} {...KEEP_FOCUS}>
      <Icon path={icon} />
    </button>
  );
}

/**
 * Types its letter when the finger is lifted, even beside the key. A long press, or the arrow up, opens a row of other letters
 * above the key; the finger slides to one of them, or touches it later.
 */
function LetterKey(props: { letter: Key; language: string; type: (text: string) => void }) {
  const { letter, language, type } = props;
  const { text, sign, variants } = letter;
  const place = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const timer = useRef(0);
  const isDown = useRef(false);
  const pointed = useSignal('');
  const opened = useSignal<'none' | 'held' | 'keys'>('none');
  const isOpen = opened.value !== 'none';
  const stop = (): void => clearTimeout(timer.current);
  const close = (): void => {
    if (opened.value === 'keys') place.current?.focus();
    opened.value = 'none';
    pointed.value = '';
  };
  const choose = (variant: string): void => {
    type(variant);
    close();
  };
  useEffect(() => stop, []);
  useEffect(() => {
    if (!isOpen) return;
    if (opened.value === 'keys') menu.current?.querySelector('button')?.focus();
    const outside = ({ target }: Event): void => {
      if (!(target instanceof Node && menu.current?.contains(target))) close();
    };
    document.addEventListener('pointerdown', outside, true);
    return () => document.removeEventListener('pointerdown', outside, true);
  }, [isOpen]);
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    place.current?.setPointerCapture(event.pointerId);
    isDown.current = true;
    stop();
    if (variants.length === 0) return;
    timer.current = setTimeout(() => {
      if (isDown.current) opened.value = 'held';
    }, LONG_PRESS_MS);
  };
  const move = (event: PointerEvent): void => {
    if (isDown.current && isOpen) pointed.value = variantAt(event, menu.current);
  };
  const up = (event: PointerEvent): void => {
    stop();
    if (!isDown.current) return;
    isDown.current = false;
    if (!isOpen) return type(text);
    const variant = variantAt(event, menu.current);
    if (variant !== '') choose(variant);
  };
  const cancel = (): void => {
    stop();
    isDown.current = false;
  };
  const openByKey = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowUp' || variants.length === 0) return;
    event.preventDefault();
    opened.value = 'keys';
  };
  return (
    <>
      <button
        ref={place}
        type="button"
        class={isOpen ? 'open' : ''}
        aria-haspopup={variants.length > 0 ? 'menu' : undefined}
        aria-expanded={variants.length > 0 ? isOpen : undefined}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={cancel}
        onKeyDown={openByKey}
        {...KEEP_FOCUS}
        // By a key or by a screen reader: a pointer has typed already.
        onClick={({ detail }) => detail === 0 && type(text)}
      >
        {sign}
      </button>
      {isOpen && (
        <div
          ref={menu}
          class="variants"
          role="menu"
          aria-label={sign}
          lang={language}
          style={{ '--at': middleOf(place.current), '--count': variants.length }}
          onKeyDown={(event) => walk(event, close)}
        >
          {variants.map((variant) => (
            <button
              type="button"
              role="menuitem"
              key={variant}
              data-text={variant}
              class={pointed.value === variant ? 'pointed' : ''}
              onClick={() => choose(variant)}
              {...KEEP_FOCUS}
            >
              {signOf(variant)}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

/** Arrows go along the row, and Escape closes it without closing the dialog. */
function walk(event: KeyboardEvent, close: () => void): void {
  const { key, target } = event;
  if (!(target instanceof HTMLElement)) return;
  const next = { ArrowLeft: target.previousElementSibling, ArrowRight: target.nextElementSibling }[key];
  if (next instanceof HTMLElement) next.focus();
  if (key === 'Escape' || key === 'ArrowDown') close();
  if (key.startsWith('Arrow') || key === 'Escape') event.preventDefault();
}

/** The letter under the finger, which began on the key below. */
function variantAt({ clientX, clientY }: PointerEvent, menu: HTMLElement | null): string {
  const button = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-text]');
  return (button != null && menu?.contains(button) && button.dataset['text']) || '';
}

/** Where the middle of a key is, as a share of its row. A turned dialog has the same layout. */
function middleOf(key: HTMLElement | null): number {
  const row = key?.parentElement;
  if (key === null || row == null) return 0.5;
  return (key.offsetLeft + key.offsetWidth / 2) / Math.max(1, row.clientWidth);
}
