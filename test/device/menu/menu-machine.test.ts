import { describe, expect, it } from 'vitest';
import { shownMenu } from '../../../src/device/menu/menu-machine.ts';
import { menuAt, SOUND_MS } from './menu-driver.ts';

type Kiosk = ReturnType<typeof menuAt>;

/** In a conversation, at the first function. */
function talking(
  desk: Parameters<typeof menuAt>[0] = {},
  help: Parameters<typeof menuAt>[1] = 'none',
): Kiosk {
  const kiosk = menuAt({ isTalking: true, ...desk }, help);
  kiosk.key('open');
  kiosk.hear(3000);
  return kiosk;
}
const shown = ({ menu }: Kiosk): string | null => shownMenu(menu.state)?.item ?? null;
const press = (kiosk: Kiosk, ...keys: Parameters<Kiosk['key']>[0][]): string[] =>
  keys.flatMap((key) => {
    kiosk.key(key);
    return kiosk.hear(SOUND_MS);
  });
const closed = ({ menu }: Kiosk): boolean => menu.state.menu === null;

describe('the spoken menu', () => {
  it('begins in the visitor’s language, and names each language in its own voice', () => {
    const kiosk = menuAt();
    kiosk.key('open');
    expect(kiosk.hear(10_000)).toEqual(['es/menuKeys', 'es/name', 'de/name', 'fr/name']);
  });

  it.each(['back', 'next', 'choose', 'repeat'] as const)('is opened by the key "%s", too', (key) => {
    const kiosk = menuAt();
    kiosk.key(key);
    expect(kiosk.hear(2000)).toEqual(['es/menuKeys', 'es/name']);
    expect(kiosk.actions()).toEqual([]);
  });

  it('explains the touches when a touch opens it', () => {
    const kiosk = menuAt();
    kiosk.key('open', 'touch');
    expect(kiosk.hear(500)).toEqual(['es/menuTouch']);
  });

  it('shows each language while it is named, and has it chosen in the pause after it', () => {
    const kiosk = menuAt();
    kiosk.key('open');
    const seen: (string | null)[] = [];
    for (const ms of [1699, 1, 1699, 1, 1000, 699]) {
      kiosk.hear(ms);
      seen.push(shown(kiosk));
    }
    const [es, de] = ['language:es', 'language:de'];
    expect(seen).toEqual([es, es, es, de, de, de]);
    kiosk.key('choose');
    expect(kiosk.actions()).toEqual([{ do: 'language', lane: 'main', language: 'de' }]);
    expect(kiosk.hear(5000)).toEqual(['de/name', 'de/talk']);
    expect(shown(kiosk)).toBe('begin');
  });

  it('begins the conversation in the present language when that is chosen', () => {
    const kiosk = menuAt();
    press(kiosk, 'open', 'choose');
    expect(kiosk.actions()).toEqual([{ do: 'touch', lane: 'main' }]);
    expect(kiosk.hear(5000)).toEqual(['es/talk']);
  });

  it('names languages without a voice as not available, and does not choose them', () => {
    const kiosk = menuAt({ offer: ['es', 'ja', 'de-at', 'th'] });
    kiosk.key('open');
    expect(kiosk.hear(10_000)).toEqual(['es/menuKeys', 'es/name', 'de/name', 'es/menuVoices']);
    expect(shown(kiosk)).toBe('others');
    expect(press(kiosk, 'choose')).toEqual(['es/ask']);
    expect(kiosk.actions()).toEqual([]);
  });

  it.each([
    [{ language: 'ja' }, 'en'],
    [{ language: 'ja', other: 'th' }, 'en'],
    [{ language: 'ja', other: 'de' }, 'de'],
    [{ language: 'pt-br' }, 'pt'],
  ])('speaks at %o in "%s"', (desk, voice) => {
    const kiosk = menuAt({ ...desk, offer: [] });
    kiosk.key('open');
    expect(kiosk.hear(10_000)).toEqual([`${voice}/menuKeys`, `${voice}/talk`]);
  });

  it('begins with the functions in a conversation, in the order of the page, and goes round', () => {
    const kiosk = menuAt({ isTalking: true });
    kiosk.key('open');
    expect(kiosk.hear(5000)).toEqual(['es/menuKeys', 'es/talk']);
    const next = Array.from({ length: 7 }, () => press(kiosk, 'next')).flat();
    const names = ['repeat', 'quieter', 'louder', 'language', 'callStaff', 'end', 'talk'];
    expect(next).toEqual(names.map((name) => `es/${name}`));
    expect(press(kiosk, 'back', 'back')).toEqual(['es/end', 'es/callStaff']);
    expect(press(kiosk, 'repeat')).toEqual(['es/callStaff']);
    expect(shown(kiosk)).toBe('help');
  });

  it('goes round the languages, and reaches them from the functions and with a second "open"', () => {
    const kiosk = talking();
    expect(press(kiosk, 'open').slice(-1)).toEqual(['es/menuKeys']);
    expect(press(kiosk, 'back', 'back', 'next', 'next')).toEqual([
      'fr/name',
      'de/name',
      'fr/name',
      'es/name',
    ]);
    expect(press(kiosk, 'choose').at(-1)).toBe('es/name');
    kiosk.hear(3000);
    press(kiosk, 'next', 'next', 'next', 'next');
    expect(shown(kiosk)).toBe('language');
    kiosk.key('choose');
    expect(kiosk.hear(10_000)).toEqual(['es/name', 'de/name', 'fr/name']);
  });

  it('has no languages and no call for staff where the page has none', () => {
    const kiosk = talking({ offer: ['es'] }, null);
    const next = Array.from({ length: 5 }, () => press(kiosk, 'next')).flat();
    expect(next).toEqual(['es/repeat', 'es/quieter', 'es/louder', 'es/end', 'es/talk']);
  });

  it('cuts what it is saying at each key', () => {
    const kiosk = menuAt();
    kiosk.key('open');
    kiosk.hear(300);
    kiosk.key('next');
    kiosk.key('next');
    expect(kiosk.hear(SOUND_MS)).toEqual(['cut', 'de/name', 'cut', 'fr/name']);
    expect(kiosk.hear(20_000)).toEqual([]);
  });

  it('makes the sound quieter and louder, heard by its own voice, and names the ends', () => {
    const kiosk = talking({ volume: 90 });
    press(kiosk, 'next', 'next', 'next');
    expect(press(kiosk, 'choose', 'choose', 'back')).toEqual(['es/louder', 'es/loudest', 'es/quieter']);
    expect(kiosk.desk.volume).toBe(100);
    kiosk.see({ volume: 20 });
    expect(press(kiosk, 'choose', 'choose')).toEqual(['es/quieter', 'es/quietest']);
    expect(kiosk.actions().map((action) => action.do)).toEqual(['louder', 'quieter']);
  });

  it('says when there is nothing to repeat, and repeats only in silence', () => {
    const kiosk = talking();
    press(kiosk, 'next');
    expect(press(kiosk, 'choose')).toEqual(['es/nothingToRepeat']);
    kiosk.see({ isRepeatable: true, quietAt: kiosk.menu.now + 2000 });
    kiosk.key('choose');
    kiosk.hear(1999);
    expect(kiosk.actions()).toEqual([]);
    kiosk.hear(1);
    expect(kiosk.actions()).toEqual([{ do: 'repeat', lane: 'main', language: 'es' }]);
    kiosk.hear(1000);
    kiosk.key('next');
    expect(kiosk.hear(1999)).toEqual([]);
    expect(kiosk.hear(1)).toEqual(['es/quieter']);
  });

  it('says that something failed, and goes on', () => {
    const kiosk = talking();
    kiosk.refuse();
    expect(press(kiosk, 'choose').concat(kiosk.hear(3000))).toEqual(['es/failed', 'es/ask']);
    expect(press(kiosk, 'next')).toEqual(['es/repeat']);
  });

  it('closes with "begin", after it has asked to speak', () => {
    const kiosk = talking();
    kiosk.key('choose');
    expect(shown(kiosk)).toBeNull();
    expect(kiosk.hear(999)).toEqual(['es/begin']);
    expect(closed(kiosk)).toBe(false);
    expect(kiosk.hear(60_000)).toEqual([]);
    expect(closed(kiosk)).toBe(true);
  });

  it('ends the conversation, and closes', () => {
    const kiosk = talking();
    expect(press(kiosk, 'back', 'choose')).toEqual(['es/end', 'es/menuClosed']);
    expect(kiosk.actions()).toEqual([{ do: 'end' }]);
    kiosk.hear(1);
    expect(closed(kiosk)).toBe(true);
  });

  it('is opened again by a key while it says that it closes', () => {
    const kiosk = talking();
    press(kiosk, 'back');
    kiosk.key('choose');
    kiosk.key('next');
    expect(kiosk.hear(3000)).toEqual(['es/menuClosed', 'cut', 'es/menuKeys', 'es/name']);
  });
});

describe('the spoken menu without a key', () => {
  it('closes 30 s after the last sound, and says so', () => {
    const kiosk = talking();
    kiosk.key('next');
    kiosk.hear(SOUND_MS);
    expect(kiosk.hear(29_999)).toEqual([]);
    expect(shown(kiosk)).toBe('repeat');
    expect(kiosk.hear(1)).toEqual(['es/menuClosed']);
    expect(shown(kiosk)).toBeNull();
    kiosk.hear(1000);
    expect(closed(kiosk)).toBe(true);
    expect(() => kiosk.menu.wake()).toThrow('nothing to wake for');
  });

  it('does not close while it reads a long list', () => {
    const offer = [
      'es',
      'de',
      'fr',
      'it',
      'pt',
      'nl',
      'pl',
      'ru',
      'uk',
      'tr',
      'ar',
      'zh',
      'ko',
      'vi',
      'hi',
      'en',
    ];
    const kiosk = menuAt({ offer: [...offer, ...offer.map((language) => `${language}-x`)] });
    kiosk.key('open');
    expect(kiosk.hear(60_000)).toHaveLength(33);
  });

  it('does not close before it has said what a translation interrupted', () => {
    const kiosk = talking();
    kiosk.key('next');
    for (let second = 0; second < 40; second++) {
      kiosk.translate(5000);
      kiosk.hear(1000);
    }
    expect(shown(kiosk)).toBe('repeat');
    expect(kiosk.hear(4000 + SOUND_MS)).toEqual(['es/repeat']);
    expect(kiosk.hear(29_999)).toEqual([]);
    expect(kiosk.hear(1)).toEqual(['es/menuClosed']);
  });
});

describe('the spoken menu and a translation', () => {
  it('is silent until the translation is heard, and then says its sentence again', () => {
    const kiosk = talking();
    kiosk.key('next');
    kiosk.hear(400);
    kiosk.translate(2000);
    kiosk.hear(1500);
    // More of it arrives before it is heard to its end.
    kiosk.translate(2000);
    expect(kiosk.hear(1999)).toEqual([]);
    expect(kiosk.hear(1)).toEqual(['es/repeat']);
    expect(kiosk.hear(20_000)).toEqual([]);
  });

  it('continues its list after the name that was interrupted', () => {
    const kiosk = menuAt();
    kiosk.key('open');
    kiosk.hear(1700 + 1700 + 500);
    kiosk.translate(2000);
    expect(kiosk.hear(10_000)).toEqual(['de/name', 'fr/name']);
  });

  it('follows keys at once, and speaks when it is silent', () => {
    const kiosk = talking();
    kiosk.translate(5000);
    press(kiosk, 'next', 'next');
    expect(shown(kiosk)).toBe('quieter');
    kiosk.key('choose');
    expect(kiosk.desk.volume).toBe(70);
    expect(kiosk.hear(2999)).toEqual([]);
    expect(kiosk.hear(1)).toEqual(['es/quieter']);
  });

  it('does not say what another desk translates', () => {
    const kiosk = talking();
    kiosk.key('next');
    kiosk.menu.post({ type: 'speech', lane: 'elsewhere' });
    expect(kiosk.hear(5000)).toEqual(['es/repeat']);
  });
});

describe('a call for staff by the spoken menu', () => {
  const call = (): Kiosk => {
    const kiosk = talking();
    press(kiosk, 'back', 'back');
    kiosk.key('choose');
    expect(kiosk.actions()).toEqual([{ do: 'help', lane: 'main' }]);
    return kiosk;
  };
  const becomes = (
    kiosk: Kiosk,
    help: 'calling' | 'called' | 'answered' | 'unanswered' | 'unreached' | 'none',
  ) => kiosk.menu.see({ help }).post({ type: 'help' });

  it('says what becomes of it, each once', () => {
    const kiosk = call();
    becomes(kiosk, 'calling');
    becomes(kiosk, 'called');
    becomes(kiosk, 'called');
    becomes(kiosk, 'answered');
    expect(kiosk.hear(5000)).toEqual(['es/called', 'es/staffComing']);
  });

  it('says so when it is open already', () => {
    const kiosk = talking({}, 'called');
    expect(press(kiosk, 'back', 'back', 'choose')).toEqual(['es/end', 'es/callStaff', 'es/called']);
  });

  it('is answered in the visitor’s voice after the menu has closed, until the call is over', () => {
    const kiosk = call();
    becomes(kiosk, 'called');
    kiosk.hear(60_000);
    expect(closed(kiosk)).toBe(true);
    becomes(kiosk, 'unanswered');
    expect(shown(kiosk)).toBeNull();
    expect(kiosk.hear(5000)).toEqual(['es/unanswered']);
    becomes(kiosk, 'none');
    becomes(kiosk, 'called');
    expect(kiosk.hear(5000)).toEqual([]);
    expect(closed(kiosk)).toBe(true);
  });

  it('is not announced when it was made without the menu', () => {
    const kiosk = menuAt();
    becomes(kiosk, 'called');
    expect(kiosk.hear(5000)).toEqual([]);
  });
});

describe('the spoken menu and faults', () => {
  it('does not open without a loudspeaker, and closes when it is lost', () => {
    const kiosk = menuAt({ hasLoudspeaker: false });
    kiosk.key('open');
    expect(closed(kiosk)).toBe(true);
    kiosk.see({ hasLoudspeaker: true });
    kiosk.key('open');
    kiosk.hear(500);
    kiosk.see({ hasLoudspeaker: false });
    kiosk.hear(1000);
    expect(closed(kiosk)).toBe(true);
    expect(shown(kiosk)).toBeNull();
  });

  it('skips a sound that cannot be played, and takes a defect of an action as refused', () => {
    const kiosk = talking();
    kiosk.menu.answer(() => null);
    kiosk.key('next');
    const [play] = kiosk.menu.all('play').slice(-1);
    if (play === undefined) throw new Error('nothing is played');
    kiosk.menu.post({ type: 'failed', effect: play });
    expect(kiosk.menu.state.menu?.saying).toBeNull();
    kiosk.key('back');
    kiosk.key('choose');
    const [act] = kiosk.menu.all('act').slice(-1);
    if (act === undefined) throw new Error('nothing is done');
    kiosk.menu.post({ type: 'failed', effect: act });
    expect(kiosk.menu.all('play').at(-1)).toMatchObject({ sound: 'failed' });
  });

  it('ignores late answers to what a key has replaced', () => {
    const kiosk = talking();
    kiosk.menu.answer(() => null);
    kiosk.key('choose');
    const number = kiosk.menu.all('act').at(-1)?.number ?? 0;
    kiosk.key('next');
    const { state } = kiosk.menu;
    kiosk.menu.post({ type: 'acted', number, isDone: true }, { type: 'started', number });
    expect(kiosk.menu.state).toEqual(state);
  });

  it('moves to another desk with a key there', () => {
    const kiosk = talking();
    const other = { ...kiosk.desk, lanes: ['b', 'c'], lane: 'c', language: 'de', offer: [], quietAt: 0 };
    kiosk.menu.answer(() => null).see({ desks: [kiosk.desk, other] });
    kiosk.menu.post({ type: 'key', lane: 'b', key: 'next', by: 'key' });
    expect(kiosk.menu.all('play').at(-1)).toMatchObject({ lane: 'c', voice: 'de', sound: 'menuKeys' });
    expect(shownMenu(kiosk.menu.state)).toEqual({ lane: 'c', item: 'begin' });
  });
});
