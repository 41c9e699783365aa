import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { directionOf, ownName } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane } from '../../protocol/screen.ts';
import { HelpButton, HelpLine, isCallShown } from './help.tsx';
import { ICONS, Icon } from './icon.tsx';
import { act } from './link.ts';
import { screen } from './store.ts';

/** Languages that share the height of the screen; more languages scroll. */
const MOST_WITHOUT_SCROLLING = 12;
/** How long the invitation stands in one language (ms). */
const EACH_MS = 4000;

/** What a visitor finds: the languages to choose from. A touch sets the language and begins a conversation; so does speaking. */
export function Idle({ lane }: { lane: ScreenLane }) {
  const turn = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => {
      turn.value += 1;
    }, EACH_MS);
    return () => clearInterval(timer);
  }, []);
  const { offer, visitor } = lane;
  const now = offer[turn.value % offer.length] ?? visitor;
  const worded = wordedLanguage(now);
  const notice = screen.value?.notices.find(({ language }) => language === now);
  const choose = (language: string): void => {
    // A change of the language begins the conversation, too. A second request would come after the notice in the old one.
    void act(
      language === visitor ? { do: 'touch', lane: lane.id } : { do: 'language', lane: lane.id, language },
    );
  };
  return (
    <section class="idle">
      <p class="question" lang={worded} dir={directionOf(worded)}>
        <Icon path={ICONS.talk} />
        <span>{wordingOf(now).choose}</span>
      </p>
      <div
        class={offer.length > MOST_WITHOUT_SCROLLING ? 'offers many' : 'offers'}
        style={{ '--rows': Math.ceil(Math.min(offer.length, MOST_WITHOUT_SCROLLING) / 2) }}
      >
        {offer.map((language) => (
          <button
            type="button"
            key={language}
            lang={language}
            dir={directionOf(language)}
            onClick={() => choose(language)}
          >
            {ownName(language)}
          </button>
        ))}
      </div>
      <div class="below">
        {notice !== undefined && !isCallShown() && (
          <p class="notice" lang={now} dir={directionOf(now)}>
            {notice.text}
          </p>
        )}
        <HelpLine languages={[now]} />
        <HelpButton lane={lane.id} language={now} isShort={true} />
      </div>
    </section>
  );
}
