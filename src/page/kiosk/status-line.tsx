import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import { shownLevel, statusNow, statusText } from './status.ts';
import { screen } from './store.ts';

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** The status in words and as a colour, and the level of the microphone. */
export function StatusLine({ languages }: { languages: readonly string[] }) {
  const status = statusNow();
  const level = shownLevel(status, screen.value?.level ?? 0);
  return (
    <div class="status" data-kind={status.kind}>
      <span class="level" aria-hidden="true">
        {LEVELS.map((step) => (
          <i key={step} class={step <= level ? 'on' : ''} />
        ))}
      </span>
      <span class="state" role="status">
        {languages.map((language) => (
          <bdi key={language} lang={wordedLanguage(language)}>
            {statusText(status, wordingOf(language))}
          </bdi>
        ))}
      </span>
    </div>
  );
}
