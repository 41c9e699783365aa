import { useEffect, useRef } from 'preact/hooks';
import { ownName } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane } from '../../protocol/screen.ts';
import { isNamed as isNamedByMenu } from './button.tsx';
import { ICONS, Icon } from './icon.tsx';
import { act } from './link.ts';

/** Interval of messages while a button is held (ms): after 5 s without one, the agent treats it as released. */
const AGAIN_MS = 2000;

/** Says who speaks: the person with this language. In `hold` the microphone is open as long as the button is held. */
export function TurnButton(props: {
  lane: ScreenLane;
  speaker: 'source' | 'target';
  /** Whether the button has the name of the language, because the panel has buttons for two. */
  isNamed: boolean;
}) {
  const { lane, speaker, isNamed } = props;
  const timer = useRef(0);
  const tell = (held: boolean) => void act({ do: 'turn', lane: lane.id, speaker, held });
  const release = (): void => {
    if (timer.current === 0) return;
    clearInterval(timer.current);
    timer.current = 0;
    tell(false);
  };
  const press = (): void => {
    if (timer.current !== 0) return;
    tell(true);
    timer.current = setInterval(() => tell(true), AGAIN_MS);
  };
  const { turn, source, targets } = lane;
  // A button that disappears or changes its mode counts as released.
  useEffect(() => release, [lane.id, speaker, turn?.mode]);
  if (turn === null || !turn.speakers.includes(speaker)) return null;
  const language = speaker === 'source' ? source : (targets[0] ?? source);
  const words = wordingOf(language);
  const word = turn.mode === 'hold' ? words.holdTalk : words.talk;
  const isKey = ({ key }: KeyboardEvent): boolean => key === ' ' || key === 'Enter';
  const held = {
    onPointerDown: press,
    onPointerUp: release,
    onPointerCancel: release,
    onPointerLeave: release,
    onContextMenu: (event: Event) => event.preventDefault(),
    onKeyDown: (event: KeyboardEvent) => isKey(event) && press(),
    onKeyUp: (event: KeyboardEvent) => isKey(event) && release(),
    onBlur: release,
  };
  return (
    <button
      type="button"
      class="turn"
      data-named={isNamedByMenu('begin')}
      data-held={turn.mode === 'hold' || undefined}
      aria-label={isNamed ? ownName(language) : `${word}: ${ownName(language)}`}
      aria-pressed={turn.isOpen && turn.speaker === speaker}
      lang={isNamed ? language : wordedLanguage(language)}
      {...(turn.mode === 'hold' ? held : { onClick: () => tell(true) })}
    >
      <Icon path={ICONS.microphone} />
      <span>{isNamed ? ownName(language) : word}</span>
    </button>
  );
}
