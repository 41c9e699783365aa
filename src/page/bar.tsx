import { useSignal } from '@preact/signals';
import type { ScreenLane } from '../protocol/screen.ts';
import { ICONS, Icon } from './icon.tsx';
import { LanguageDialog } from './language-dialog.tsx';
import { directionOf, ownName } from './languages.ts';
import { act } from './link.ts';
import { helpText, statusNow } from './status-line.tsx';
import { TypingDialog } from './typing-dialog.tsx';
import { wordedLanguage, wordingOf } from './wording.ts';

/** Buttons for the person at the kiosk; instead of them what to do, when it cannot interpret. */
export function Bar({ lane, helpIn }: { lane: ScreenLane; helpIn: readonly string[] }) {
  const opened = useSignal<'none' | 'language' | 'typing'>('none');
  const status = statusNow();
  const worded = wordedLanguage(lane.source);
  const words = wordingOf(lane.source);
  const [target = lane.source] = lane.targets;
  const close = () => {
    opened.value = 'none';
  };
  if (status.kind === 'offline') return <Help languages={helpIn} />;
  if (status.kind === 'closed') return <div class="bar" />;
  return (
    <nav class="bar" lang={worded} dir={directionOf(worded)} aria-label={words.language}>
      {lane.offer.length > 1 && (
        <Button
          icon={ICONS.globe}
          label={ownName(target)}
          lang={target}
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

function Help({ languages }: { languages: readonly string[] }) {
  const status = statusNow();
  return (
    <div class="bar helps">
      {languages.map((language) => (
        <p
          class="help"
          key={language}
          lang={wordedLanguage(language)}
          dir={directionOf(wordedLanguage(language))}
        >
          {helpText(status, wordingOf(language))}
        </p>
      ))}
    </div>
  );
}

export function Button(props: {
  icon?: string;
  label: string;
  lang?: string;
  isOff?: boolean;
  isChosen?: boolean;
  press: () => void;
}) {
  const { icon, label, lang, isOff = false, isChosen, press } = props;
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
      <span>{label}</span>
    </button>
  );
}
