import { useSignal } from '@preact/signals';
import { directionOf, ownName } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane, ScreenTyping } from '../../protocol/screen.ts';
import { useFittingLook } from './bar-fit.ts';
import { Button } from './button.tsx';
import { ICONS } from './icon.tsx';
import { LanguageDialog } from './language-dialog.tsx';
import { act } from './link.ts';
import { statusNow } from './status.ts';
import { TurnButton } from './turn-button.tsx';
import { TypingDialog } from './typing-dialog.tsx';

type Ways = readonly ScreenTyping[];

/** Buttons for the person at the kiosk, while it interprets. */
export function Bar(props: {
  lane: ScreenLane;
  /** Whether the person on the other side of the screen has buttons of their own. */
  isNear: boolean;
  /** The typing directions of each half of the screen. */
  ways: readonly Ways[];
}) {
  const { lane, isNear, ways } = props;
  const [near = [], far = []] = ways;
  const opened = useSignal(false);
  const row = useFittingLook<HTMLElement>();
  const status = statusNow();
  const worded = wordedLanguage(lane.source);
  const words = wordingOf(lane.source);
  const close = () => {
    opened.value = false;
  };
  if (status.kind === 'offline' || status.kind === 'closed') return null;
  return (
    <nav
      ref={row}
      class={lane.turn === null ? 'bar' : 'bar turns'}
      lang={worded}
      dir={directionOf(worded)}
      aria-label={words.language}
    >
      <TurnButton lane={lane} speaker="source" />
      <TypingButton lane={lane} ways={near} />
      {lane.offer.length > 1 && (
        <Button
          icon={ICONS.globe}
          label={ownName(lane.visitor)}
          lang={lane.visitor}
          keepsText
          press={() => (opened.value = true)}
        />
      )}
      <Button
        icon={ICONS.louder}
        label={words.louder}
        isOff={lane.volume >= 100}
        press={() => void act({ do: 'louder', lane: lane.id })}
      />
      <Button icon={ICONS.end} label={words.end} press={() => void act({ do: 'end' })} />
      <TypingButton lane={lane} ways={far} />
      {!isNear && <TurnButton lane={lane} speaker="target" />}
      {opened.value && <LanguageDialog lane={lane} close={close} />}
    </nav>
  );
}

/** The buttons of the person on the other side of a screen that lies between two people. */
export function FarBar({ lane, ways }: { lane: ScreenLane; ways: Ways }) {
  const row = useFittingLook<HTMLDivElement>();
  const { kind } = statusNow();
  const isEmpty = lane.turn?.speakers.includes('target') !== true && ways.length === 0;
  if (isEmpty || kind === 'offline' || kind === 'closed') return null;
  return (
    <div ref={row} class="bar">
      <TurnButton lane={lane} speaker="target" />
      <TypingButton lane={lane} ways={ways} isTurned />
    </div>
  );
}

/** Opens the typing dialog for people who do not speak; labelled in their language. */
function TypingButton({
  lane,
  ways,
  isTurned = false,
}: {
  lane: ScreenLane;
  ways: Ways;
  isTurned?: boolean;
}) {
  const isOpen = useSignal(false);
  const [way] = ways;
  if (way === undefined) return null;
  const language = wordedLanguage(way.from);
  const close = () => {
    isOpen.value = false;
  };
  return (
    <>
      <Button
        icon={ICONS.keyboard}
        label={wordingOf(way.from).type}
        name={`${wordingOf(way.from).type}: ${ownName(way.from)}`}
        lang={language}
        isOwn
        press={() => (isOpen.value = true)}
      />
      {isOpen.value && <TypingDialog lane={lane} ways={ways} isTurned={isTurned} close={close} />}
    </>
  );
}
