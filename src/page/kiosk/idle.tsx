import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { directionOf, ownName } from '../../core/language-names.ts';
import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane } from '../../protocol/screen.ts';
import { About } from './about.tsx';
import { Alternate, useLanguageInTurn } from './alternate.tsx';
import { Another } from './another.tsx';
import { isNamed } from './button.tsx';
import { passFocusOn } from './focus.ts';
import { HelpButton, HelpLine, isCallShown } from './help.tsx';
import { ICONS, Icon } from './icon.tsx';
import { act } from './link.ts';
import { LookSwitch, lookClass, lookNow } from './look.tsx';
import type { Side } from './looks.ts';
import { letterStyle, lettersOf, type Sizes } from './sizes.ts';
import { screen } from './store.ts';

/** Languages that share the height of the screen; more languages scroll. */
const MOST_WITHOUT_SCROLLING = 12;

/** What a visitor finds: the languages to choose from. A touch sets the language and begins a conversation; so does speaking. */
export function Idle({ lane, sizes }: { lane: ScreenLane; sizes: Sizes }) {
  const place = useRef<HTMLElement>(null);
  useLayoutEffect(() => () => passFocusOn(place.current), []);
  const { offer, visitor, source } = lane;
  // Who chooses a language will sit on the visitors' side.
  const sides: readonly Side[] = [visitor === source ? 'source' : 'target'];
  const look = lookNow(sides);
  const now = useLanguageInTurn(offer);
  const chosen = useSignal<string | null>(null);
  const refused = useSignal<string | null>(null);
  const choose = async (language: string): Promise<void> => {
    chosen.value = language;
    refused.value = null;
    // A change of the language begins the conversation, too. A second request would come after the notice in the old one.
    const isDone = await act(
      language === visitor ? { do: 'touch', lane: lane.id } : { do: 'language', lane: lane.id, language },
    );
    if (chosen.value !== language) return;
    chosen.value = null;
    if (!isDone) refused.value = language;
  };
  const rows = Math.ceil((Math.min(offer.length, MOST_WITHOUT_SCROLLING) + 1) / 2);
  return (
    <section class={`idle${lookClass(look)}`} style={letterStyle(lettersOf(look, sizes))} ref={place}>
      <p class="question">
        <Icon path={ICONS.talk} />
        <Alternate
          look="now"
          texts={offer.map((language) => ({ language, text: wordingOf(language).choose }))}
          now={now}
        />
      </p>
      <div
        class={offer.length > MOST_WITHOUT_SCROLLING ? 'offers many' : 'offers'}
        style={{ '--rows': rows }}
      >
        {offer.map((language) => (
          <button
            type="button"
            key={language}
            lang={language}
            dir={directionOf(language)}
            aria-pressed={chosen.value === language}
            data-named={isNamed(`language:${language}`)}
            onClick={() => void choose(language)}
          >
            {ownName(language)}
          </button>
        ))}
        <Another offer={offer} now={now} />
      </div>
      <Foot lane={lane.id} sides={sides} sizes={sizes} now={now} offer={offer} refused={refused.value} />
    </section>
  );
}

/** The notice, or that a choice was refused; a call for staff; and the button for more. */
function Foot(props: {
  lane: string;
  sides: readonly Side[];
  sizes: Sizes;
  now: string;
  offer: readonly string[];
  refused: string | null;
}) {
  const { lane, sides, sizes, now, offer, refused } = props;
  const notices = screen.value?.notices.filter(({ language }) => offer.includes(language)) ?? [];
  const worded = wordedLanguage(refused ?? now);
  return (
    <div class="foot">
      {refused === null ? (
        !isCallShown() && <Alternate look="notice" texts={notices} now={now} />
      ) : (
        <p class="refused" role="alert" lang={worded} dir={directionOf(worded)}>
          {wordingOf(refused).refused}
        </p>
      )}
      <HelpLine languages={[now]} />
      <HelpButton lane={lane} language={now} isShort={true} />
      <LookSwitch lane={null} languages={[now]} sides={sides} sizes={sizes} />
      <About lane={null} languages={[now]} />
    </div>
  );
}
