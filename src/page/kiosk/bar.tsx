import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { directionOf, ownName } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane, ScreenTyping } from '../../protocol/screen.ts';
import { useFittingLook } from './bar-fit.ts';
import { Button } from './button.tsx';
import { HelpButton } from './help.tsx';
import { ICONS } from './icon.tsx';
import { LanguageDialog } from './language-dialog.tsx';
import { act } from './link.ts';
import { statusNow } from './status.ts';
import { isConnected } from './store.ts';
import { TurnButton } from './turn-button.tsx';
import { TypingDialog } from './typing-dialog.tsx';
import { Volume } from './volume.tsx';

/** The buttons of the readers of one panel, in their language, while the kiosk interprets. */
export function Bar(props: {
  lane: ScreenLane;
  language: string;
  speakers: readonly ('source' | 'target')[];
  ways: readonly ScreenTyping[];
  /** Its readers have chosen large letters. */
  isLarge: boolean;
  isTurned: boolean;
}) {
  const { lane, language, speakers, ways, isLarge, isTurned } = props;
  const opened = useSignal<'none' | 'language' | 'typing'>('none');
  const row = useFittingLook<HTMLElement>(isLarge);
  const { kind } = statusNow();
  const hasButtons = kind !== 'offline' && kind !== 'closed';
  const worded = wordedLanguage(language);
  const words = wordingOf(language);
  const reasonNotToRepeat =
    kind === 'speaking'
      ? words.stillSpeaking
      : lane.repeatable.includes(language)
        ? null
        : words.nothingToRepeat;
  const [way] = ways;
  const isVisitors = speakers.length > 1 || language === lane.visitor;
  const close = () => {
    opened.value = 'none';
  };
  // While the agent does not answer, nobody says whether the conversation goes on: typed words must not stay.
  const isAnswered = isConnected.value;
  useEffect(() => {
    if (!isAnswered) close();
  }, [isAnswered]);
  return (
    <>
      {hasButtons && (
        <nav
          ref={row}
          class="bar"
          data-visitors={isVisitors || undefined}
          lang={worded}
          dir={directionOf(worded)}
          aria-label={ownName(language)}
        >
          <div class="group">
            {speakers.map((speaker) => (
              <TurnButton key={speaker} lane={lane} speaker={speaker} isNamed={speakers.length > 1} />
            ))}
            <Button
              icon={ICONS.repeat}
              label={words.repeat}
              item="repeat"
              off={reasonNotToRepeat}
              press={() => void act({ do: 'repeat', lane: lane.id, language })}
            />
            <Volume lane={lane} language={language} />
          </div>
          <div class="group">
            {isVisitors && lane.offer.length > 1 && (
              <Button
                icon={ICONS.globe}
                label={words.language}
                look="language"
                item="language"
                name={`${words.language}: ${ownName(lane.visitor)}`}
                press={() => (opened.value = 'language')}
              />
            )}
            {way !== undefined && (
              <Button
                icon={ICONS.keyboard}
                label={words.type}
                look="keyboard"
                name={`${words.type}: ${ownName(way.from)}`}
                press={() => (opened.value = 'typing')}
              />
            )}
            <HelpButton lane={lane.id} language={language} isShort={true} />
            <Button
              icon={ICONS.end}
              label={words.end}
              look="end"
              item="end"
              press={() => void act({ do: 'end' })}
            />
          </div>
        </nav>
      )}
      {/* With what is typed in it, a dialog outlives a short outage of the broker or the service, when the buttons are away. */}
      {opened.value === 'language' && (
        <LanguageDialog lane={lane} language={language} isTurned={isTurned} close={close} />
      )}
      {opened.value === 'typing' && (
        <TypingDialog lane={lane} ways={ways} isTurned={isTurned} close={close} />
      )}
    </>
  );
}
