import { useSignal } from '@preact/signals';
import { directionOf, ownName } from '../core/screen/languages.ts';
import { wordedLanguage, wordingOf } from '../core/screen/wording.ts';
import type { ScreenLane } from '../protocol/screen.ts';
import { ICONS, Icon } from './icon.tsx';
import { LanguageDialog } from './language-dialog.tsx';
import { act } from './link.ts';
import { statusNow } from './status-line.tsx';
import { TurnButton } from './turn-button.tsx';
import { TypingDialog } from './typing-dialog.tsx';

type Speaker = 'source' | 'target';

/** Buttons for the person at the kiosk, as long as it interprets. */
export function Bar({ lane, speakers }: { lane: ScreenLane; speakers: readonly Speaker[] }) {
  const opened = useSignal<'none' | 'language' | 'typing'>('none');
  const status = statusNow();
  const worded = wordedLanguage(lane.source);
  const words = wordingOf(lane.source);
  const close = () => {
    opened.value = 'none';
  };
  if (status.kind === 'offline' || status.kind === 'closed') return null;
  return (
    <nav
      class={lane.turn === null ? 'bar' : 'bar turns'}
      lang={worded}
      dir={directionOf(worded)}
      aria-label={words.language}
    >
      {(lane.turn === null ? [] : speakers).map((speaker) => (
        <TurnButton key={speaker} lane={lane} speaker={speaker} />
      ))}
      {lane.offer.length > 1 && (
        <Button
          icon={ICONS.globe}
          label={ownName(lane.visitor)}
          lang={lane.visitor}
          keepsText
          press={() => (opened.value = 'language')}
        />
      )}
      <Button icon={ICONS.keyboard} label={words.type} press={() => (opened.value = 'typing')} />
      <Button
        icon={ICONS.louder}
        label={words.louder}
        isOff={lane.volume >= 100}
        press={() => void act({ do: 'louder', lane: lane.id })}
      />
      <Button icon={ICONS.end} label={words.end} press={() => void act({ do: 'end' })} />
      {opened.value === 'language' && <LanguageDialog lane={lane} close={close} />}
      {opened.value === 'typing' && <TypingDialog lane={lane} close={close} />}
    </nav>
  );
}

/** The button of the person on the other side of a screen that lies between two people. */
export function TurnBar({ lane }: { lane: ScreenLane }) {
  const { kind } = statusNow();
  if (lane.turn === null || kind === 'offline' || kind === 'closed') return null;
  return (
    <div class="bar">
      <TurnButton lane={lane} speaker="target" />
    </div>
  );
}

export function Button(props: {
  icon?: string;
  label: string;
  lang?: string;
  /** Without its text the sign says nothing. */
  keepsText?: boolean;
  isOff?: boolean;
  isChosen?: boolean;
  press: () => void;
}) {
  const { icon, label, lang, keepsText = false, isOff = false, isChosen, press } = props;
  return (
    <button
      type="button"
      disabled={isOff}
      aria-pressed={isChosen}
      aria-label={label}
      lang={lang}
      onClick={press}
    >
      {icon !== undefined && <Icon path={icon} />}
      <span class={keepsText ? 'kept' : ''}>{label}</span>
    </button>
  );
}
