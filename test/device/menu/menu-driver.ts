import {
  type MenuDesk,
  type MenuEffect,
  type MenuFacts,
  menuMachine,
} from '../../../src/device/menu/menu-machine.ts';
import type { MenuKey } from '../../../src/protocol/mqtt/commands/desk-commands.ts';
import { drive } from '../../machine/drive.ts';

export const DESK: MenuDesk = {
  lanes: ['main'],
  lane: 'main',
  language: 'es',
  other: 'en',
  offer: ['es', 'de', 'fr'],
  isTalking: false,
  isRepeatable: false,
  volume: 80,
  quietAt: 0,
  hasLoudspeaker: true,
};
/** Length of each sound (ms). */
export const SOUND_MS = 1000;

/** The menu at one desk, whose loudspeaker takes a second for each sound. What is heard: `LANGUAGE/SOUND`. */
export function menuAt(desk: Partial<MenuDesk> = {}, help: MenuFacts['help'] = 'none') {
  let present: MenuDesk = { ...DESK, ...desk };
  let refuses = false;
  const heard: string[] = [];
  const menu = drive(menuMachine, { desks: [present], help });
  const see = (change: Partial<MenuDesk>): void => {
    present = { ...present, ...change };
    menu.see({ desks: [present] });
  };
  const carryOut = ({ action }: Extract<MenuEffect, { type: 'act' }>): void => {
    if (refuses) return;
    if (action.do === 'language') see({ language: action.language, isTalking: true });
    if (action.do === 'touch') see({ isTalking: true });
    if (action.do === 'louder') see({ volume: present.volume + 10 });
    if (action.do === 'quieter') see({ volume: present.volume - 10 });
    if (action.do === 'help' && help === 'none') menu.see({ help: 'calling' });
    if (action.do === 'end') see({ isTalking: false });
    if (action.do === 'repeat') see({ quietAt: menu.now + 3000 });
  };
  menu.answer((effect) => {
    switch (effect.type) {
      case 'play':
        heard.push(`${effect.voice}/${effect.sound}`);
        see({ quietAt: menu.now + SOUND_MS });
        return { type: 'started', number: effect.number };
      case 'cut':
        heard.push('cut');
        see({ quietAt: menu.now });
        return { type: 'silenced' };
      case 'act':
        carryOut(effect);
        return { type: 'acted', number: effect.number, isDone: !refuses };
      default:
        return null;
    }
  });
  return {
    menu,
    see,
    get desk() {
      return present;
    },
    /** From now on actions fail. */
    refuse(): void {
      refuses = true;
    },
    key: (key: MenuKey, by: 'key' | 'touch' = 'key') => menu.post({ type: 'key', lane: 'main', key, by }),
    /** Translated speech arrives, and takes this long to be heard. */
    translate(ms: number): void {
      see({ quietAt: menu.now + ms });
      menu.post({ type: 'speech', lane: 'main' });
    },
    /** What is heard within this time. */
    hear(ms = 20_000): string[] {
      menu.pass(ms);
      return heard.splice(0);
    },
    actions: () => menu.all('act').map(({ action }) => action),
  };
}
