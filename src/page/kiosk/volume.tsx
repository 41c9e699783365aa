import { wordedLanguage, wordingOf } from '../../device/screen/wording.ts';
import type { ScreenLane } from '../../protocol/screen.ts';
import { VISITORS_VOLUME } from '../../protocol/screen-size.ts';
import { Button } from './button.tsx';
import { ICONS, Icon } from './icon.tsx';
import { act } from './link.ts';

/** Quieter and louder, with the present volume in the reader's digits between them. */
export function Volume({ lane: { id, volume }, language }: { lane: ScreenLane; language: string }) {
  const words = wordingOf(language);
  const percent = new Intl.NumberFormat(wordedLanguage(language), { style: 'percent' }).format(volume / 100);
  return (
    <div class="volume">
      <Button
        icon={ICONS.minus}
        label={words.quieter}
        item="quieter"
        look="step"
        off={volume <= VISITORS_VOLUME.quietest ? words.quietest : null}
        press={() => void act({ do: 'quieter', lane: id })}
      />
      <output class="amount">
        <Icon path={ICONS.louder} />
        <span>{percent}</span>
      </output>
      <Button
        icon={ICONS.plus}
        label={words.louder}
        item="louder"
        look="step"
        off={volume >= VISITORS_VOLUME.loudest ? words.loudest : null}
        press={() => void act({ do: 'louder', lane: id })}
      />
    </div>
  );
}
