/**
 * The spoken menu: a voice and four keys, for visitors who do not see the page. It names one item at a time, and each key cuts
 * what is being said. A translation comes first: the menu is silent until it has been heard, and then begins its sentence again.
 */

import type { Failed, Machine, Moment, Step, Time } from '../../machine/machine.ts';
import type { HelpCallState, MenuKey } from '../../protocol/mqtt/commands/desk-commands.ts';
import type { ScreenAction, ScreenMenuItem } from '../../protocol/screen.ts';
import { VISITORS_VOLUME } from '../../protocol/screen-size.ts';
import { type MenuSound, voiceFor } from './menu-sounds.ts';

/** How long the menu waits for a key (ms). */
const CLOSES_AFTER_MS = 30_000;
/** Pause after each name of the list (ms): time to choose the language that was just named. */
const NAME_PAUSE_MS = 700;

/** A desk as the menu needs it. */
export interface MenuDesk {
  readonly lanes: readonly string[];
  /** The lane whose loudspeaker the visitor hears. */
  readonly lane: string;
  /** The visitor's language now. */
  readonly language: string;
  /** The other person's language. */
  readonly other: string;
  /** Empty: there is no choice. */
  readonly offer: readonly string[];
  readonly isTalking: boolean;
  /** Whether there is a translation to repeat to the visitor. */
  readonly isRepeatable: boolean;
  /** Percent. */
  readonly volume: number;
  /** When all received sound of the desk will have been heard. */
  readonly quietAt: number;
  readonly hasLoudspeaker: boolean;
}

export interface MenuFacts {
  readonly desks: readonly MenuDesk[];
  /** Null: visitors cannot call staff. */
  readonly help: HelpCallState | 'none' | null;
}

interface Line {
  readonly type: 'say';
  readonly voice: string;
  readonly sound: MenuSound;
  /** The item that it names: it becomes the present one. */
  readonly item?: ScreenMenuItem;
}
/** `repeat` speaks the last translation again, which is possible only in silence. */
type Task = Line | { readonly type: 'repeat' };

/** The open menu. */
export interface Menu {
  /** A lane of its desk. */
  readonly lane: string;
  /** Language of its sounds. */
  readonly voice: string;
  readonly list: 'languages' | 'functions';
  readonly item: ScreenMenuItem;
  readonly queue: readonly Task[];
  /** `isStarted`: the lane has the sound. */
  readonly saying: { readonly number: number; readonly line: Line; readonly isStarted: boolean } | null;
  readonly acting: { readonly number: number; readonly item: ScreenMenuItem } | null;
  /** When the last sound of the menu ended; null: a key, or a translation, has come since. */
  readonly endedAt: number | null;
  /** The last key, or the end of the last sound. */
  readonly activeAt: number;
  /** Next look whether the loudspeaker is silent; null: none. */
  readonly looksAt: number | null;
  /** It closes when its last sentence is said. */
  readonly isClosing: boolean;
}

export interface MenuState {
  readonly menu: Menu | null;
  /** Counts sounds and actions: late answers are ignored. */
  readonly count: number;
  /** The state of the call for staff that the visitor knows. */
  readonly helpSaid: MenuFacts['help'];
  /** Who called staff with the menu, and hears what becomes of it after the menu has closed; null: no call. */
  readonly called: { readonly lane: string; readonly voice: string } | null;
}

export type MenuEvent =
  /** `by` touch: at the lower edge of the page. */
  | { readonly type: 'key'; readonly lane: string; readonly key: MenuKey; readonly by: 'key' | 'touch' }
  /** The lane has the sound, or there is no such sound. */
  | { readonly type: 'started'; readonly number: number }
  /** The lane has dropped the sound. */
  | { readonly type: 'silenced' }
  | { readonly type: 'acted'; readonly number: number; readonly isDone: boolean }
  /** Translated speech has arrived; the lane has cut the menu's sound. */
  | { readonly type: 'speech'; readonly lane: string }
  /** The call for staff has changed. */
  | { readonly type: 'help' };

export type MenuEffect =
  | {
      readonly type: 'play';
      readonly number: number;
      readonly lane: string;
      readonly voice: string;
      readonly sound: MenuSound;
    }
  | { readonly type: 'cut'; readonly lane: string }
  | { readonly type: 'act'; readonly number: number; readonly action: ScreenAction }
  /** The page shows another item, or none. */
  | { readonly type: 'show' };

type Event = MenuEvent | Time | Failed<MenuEffect>;
type Facts = MenuFacts & Moment;

export const menuMachine: Machine<MenuState, MenuEvent, MenuEffect, MenuFacts> = {
  name: 'menu',
  begin: { menu: null, count: 0, helpSaid: null, called: null },
  step(state, event, facts) {
    const menuStep = new MenuStep(state, facts);
    menuStep.take(event);
    menuStep.goOn();
    return menuStep.end();
  },
  wakeAt({ menu }) {
    if (menu === null) return null;
    const times = [
      ...(menu.looksAt === null ? [] : [menu.looksAt]),
      ...(isIdle(menu) ? [menu.activeAt + CLOSES_AFTER_MS] : []),
    ];
    return times.length === 0 ? null : Math.min(...times);
  },
};

/** Nothing is said, and nothing waits for the end of a translation. */
const isIdle = ({ saying, queue, isClosing }: NonNullable<MenuState['menu']>): boolean =>
  saying === null && queue.length === 0 && !isClosing;

/** What the page shows of the menu. */
export const shownMenu = ({ menu }: MenuState): { lane: string; item: ScreenMenuItem } | null =>
  menu === null || menu.isClosing ? null : { lane: menu.lane, item: menu.item };

type MenuFunction = 'begin' | 'repeat' | 'quieter' | 'louder' | 'language' | 'help' | 'end';

/** What each function is called, in the words of its button. */
const LABELS: Readonly<Record<MenuFunction, MenuSound>> = {
  begin: 'talk',
  repeat: 'repeat',
  quieter: 'quieter',
  louder: 'louder',
  language: 'language',
  help: 'callStaff',
  end: 'end',
};

const HELP_SOUNDS: Readonly<Record<HelpCallState | 'none', MenuSound | null>> = {
  none: null,
  calling: null,
  called: 'called',
  answered: 'staffComing',
  unanswered: 'unanswered',
  unreached: 'unreached',
};

const itemOf = (language: string): ScreenMenuItem => `language:${language}`;

/** The language of an item; null: it is not a language. */
const languageOf = (item: ScreenMenuItem): string | null =>
  item.startsWith('language:') ? item.slice('language:'.length) : null;

/** The languages with a voice, in the order of the page, and a last item that speaks of those without. */
function languageItems({ offer }: MenuDesk): ScreenMenuItem[] {
  if (offer.length < 2) return [];
  const voiced = offer.filter((language) => voiceFor(language) !== null);
  return [...voiced.map(itemOf), ...(voiced.length < offer.length ? (['others'] as const) : [])];
}

/** The functions in the order of the page, without those that it does not show. */
function functionItems(desk: MenuDesk, { help }: MenuFacts): MenuFunction[] {
  return [
    'begin',
    'repeat',
    'quieter',
    'louder',
    ...(languageItems(desk).length > 0 ? (['language'] as const) : []),
    ...(help === null ? [] : (['help'] as const)),
    'end',
  ];
}

/** One step: the state so far, and its effects. */
class MenuStep {
  private state: MenuState;
  private readonly before: MenuState;
  private readonly facts: Facts;
  private readonly effects: MenuEffect[] = [];

  constructor(state: MenuState, facts: Facts) {
    this.before = state;
    this.state = state;
    this.facts = facts;
  }

  take(event: Event): void {
    switch (event.type) {
      case 'key':
        return this.onKey(event);
      case 'started':
        return this.onStarted(event.number);
      case 'acted':
        return this.onActed(event.number, event.isDone);
      case 'speech':
        return this.onSpeech(event.lane);
      case 'help':
        return this.onHelp();
      case 'time':
        return this.onTime();
      case 'failed':
        // A defect: the sound is skipped, and the action has failed.
        if (event.effect.type === 'play') return this.onStarted(event.effect.number);
        if (event.effect.type === 'act') return this.onActed(event.effect.number, false);
        return;
      case 'silenced':
        return;
    }
  }

  /** Begins what is next once the desk is silent. */
  goOn(): void {
    const { now } = this.facts;
    for (let { menu } = this.state; menu !== null; { menu } = this.state) {
      const desk = this.deskOf(menu.lane);
      // The page still works.
      if (desk?.hasLoudspeaker !== true) return this.close();
      const { saying, endedAt, queue } = menu;
      if (saying?.isStarted === false) return this.set({ looksAt: null });
      if (desk.quietAt > now) return this.set({ looksAt: desk.quietAt });
      if (saying !== null) {
        this.set({ saying: null, endedAt: now, activeAt: now });
        continue;
      }
      const [task, ...rest] = queue;
      if (task === undefined) return menu.isClosing ? this.close() : this.set({ looksAt: null });
      const mayBeginAt =
        task.type === 'say' && task.item !== undefined ? (endedAt ?? now) + NAME_PAUSE_MS : now;
      if (endedAt !== null && mayBeginAt > now) return this.set({ looksAt: mayBeginAt });
      this.set({ queue: rest, looksAt: null });
      return task.type === 'say' ? this.play(task, desk) : this.repeat(desk);
    }
  }

  end(): Step<MenuState, MenuEffect> {
    const [before, after] = [shownMenu(this.before), shownMenu(this.state)];
    if (before?.item !== after?.item || before?.lane !== after?.lane) this.effects.push({ type: 'show' });
    return { state: this.state, effects: this.effects };
  }

  private onKey({ lane, key, by }: Extract<MenuEvent, { type: 'key' }>): void {
    const desk = this.deskOf(lane);
    if (desk?.hasLoudspeaker !== true) return;
    const { menu } = this.state;
    const isHere = menu !== null && desk.lanes.includes(menu.lane);
    this.cut();
    if (!isHere || menu.isClosing || key === 'open') return this.open(desk, by, isHere && !menu.isClosing);
    const voice = voiceFor(desk.language) ?? menu.voice;
    this.set({ voice, queue: [], acting: null, activeAt: this.facts.now });
    if (key === 'choose') return this.choose(menu.item, desk);
    const items = menu.list === 'languages' ? languageItems(desk) : functionItems(desk, this.facts);
    const step = key === 'next' ? 1 : key === 'back' ? -1 : 0;
    const at = items.indexOf(menu.item) + step;
    const item = items.at(at % items.length);
    if (item !== undefined) this.name(item);
  }

  /** In a conversation the menu begins with its functions, as the page does. A second `open` leads to the languages. */
  private open(desk: MenuDesk, by: 'key' | 'touch', isAgain: boolean): void {
    const voice = voiceFor(desk.language) ?? voiceFor(desk.other) ?? 'en';
    const hasLanguages = languageItems(desk).length > 0 && (isAgain || !desk.isTalking);
    this.state = {
      ...this.state,
      menu: {
        lane: desk.lane,
        voice,
        list: 'functions',
        item: 'begin',
        queue: [{ type: 'say', voice, sound: by === 'touch' ? 'menuTouch' : 'menuKeys' }],
        saying: null,
        acting: null,
        endedAt: null,
        activeAt: this.facts.now,
        looksAt: null,
        isClosing: false,
      },
      helpSaid: this.facts.help,
    };
    if (hasLanguages) this.listLanguages(desk);
    else this.say(this.labelOf('begin'));
  }

  private listLanguages(desk: MenuDesk): void {
    const items = languageItems(desk);
    const [first] = items;
    const present = itemOf(desk.language);
    if (first === undefined) return;
    this.set({ list: 'languages', item: items.includes(present) ? present : first });
    this.say(...items.map((item) => this.labelOf(item)));
  }

  private choose(item: ScreenMenuItem, desk: MenuDesk): void {
    const { lane } = desk;
    const language = languageOf(item);
    if (language !== null)
      // As on the page: a second request for the present language would change nothing.
      return this.act(
        item,
        language === desk.language ? { do: 'touch', lane } : { do: 'language', lane, language },
      );
    switch (item as MenuFunction | 'others') {
      case 'others':
        return this.say(this.line('ask'));
      case 'begin':
        return this.act(item, { do: 'touch', lane });
      case 'repeat':
        if (!desk.isRepeatable) return this.say(this.line('nothingToRepeat'));
        return this.set({ queue: [{ type: 'repeat' }] });
      case 'quieter':
        if (desk.volume <= VISITORS_VOLUME.quietest) return this.say(this.line('quietest'));
        return this.act(item, { do: 'quieter', lane });
      case 'louder':
        if (desk.volume >= VISITORS_VOLUME.loudest) return this.say(this.line('loudest'));
        return this.act(item, { do: 'louder', lane });
      case 'language':
        return this.listLanguages(desk);
      case 'help':
        this.state = { ...this.state, helpSaid: 'none' };
        return this.act(item, { do: 'help', lane });
      case 'end':
        return this.act(item, { do: 'end' });
    }
  }

  private onActed(number: number, isDone: boolean): void {
    const { menu } = this.state;
    if (menu?.acting?.number !== number) return;
    const { item } = menu.acting;
    this.set({ acting: null });
    if (!isDone) return this.say(this.line('failed'), this.line('ask'));
    const language = languageOf(item);
    if (language !== null) {
      const voice = voiceFor(language) ?? menu.voice;
      this.set({ voice, list: 'functions', item: 'begin' });
      return this.say({ type: 'say', voice, sound: 'name' }, this.labelOf('begin'));
    }
    switch (item) {
      case 'begin':
        return this.finish('begin');
      case 'end':
        return this.finish('menuClosed');
      case 'quieter':
      case 'louder':
        return this.say(this.labelOf(item));
      case 'help':
        this.state = { ...this.state, called: { lane: menu.lane, voice: menu.voice } };
        return this.onHelp();
    }
  }

  private onStarted(number: number): void {
    const { menu } = this.state;
    if (menu?.saying?.number === number) this.set({ saying: { ...menu.saying, isStarted: true } });
  }

  private onSpeech(lane: string): void {
    const { menu } = this.state;
    if (menu === null || menu.saying === null || this.deskOf(lane) !== this.deskOf(menu.lane)) return;
    this.set({ queue: [menu.saying.line, ...menu.queue], saying: null, endedAt: null });
  }

  /** Says what has become of the call for staff, after the menu has closed, too. */
  private onHelp(): void {
    const { help, now } = this.facts;
    const { menu, called, helpSaid } = this.state;
    const hasEnded = help === null || help === 'none';
    this.state = { ...this.state, helpSaid: help, called: hasEnded ? null : called };
    const sound = help === null ? null : HELP_SOUNDS[help];
    if (help === helpSaid || sound === null) return;
    if (menu !== null && !menu.isClosing) return this.say(this.line(sound));
    if (called === null) return;
    const line: Line = { type: 'say', voice: called.voice, sound };
    if (menu !== null) return this.say(line);
    this.state = {
      ...this.state,
      menu: {
        lane: called.lane,
        voice: called.voice,
        list: 'functions',
        item: 'help',
        queue: [line],
        saying: null,
        acting: null,
        endedAt: null,
        activeAt: now,
        looksAt: null,
        isClosing: true,
      },
    };
  }

  private onTime(): void {
    const { menu } = this.state;
    if (menu === null || !isIdle(menu)) return;
    if (this.facts.now < menu.activeAt + CLOSES_AFTER_MS) return;
    this.set({ queue: [], acting: null });
    this.finish('menuClosed');
  }

  private finish(sound: MenuSound): void {
    this.set({ isClosing: true });
    this.say(this.line(sound));
  }

  private name(item: ScreenMenuItem): void {
    this.set({ item });
    this.say(this.labelOf(item));
  }

  private labelOf(item: ScreenMenuItem): Line {
    const language = languageOf(item);
    if (language !== null) return { ...this.line('name'), voice: voiceFor(language) ?? 'en', item };
    const sound = item === 'others' ? 'menuVoices' : LABELS[item as MenuFunction];
    return { ...this.line(sound), item };
  }

  private line(sound: MenuSound): Line {
    return { type: 'say', voice: this.state.menu?.voice ?? 'en', sound };
  }

  private say(...lines: readonly Line[]): void {
    this.set({ queue: [...(this.state.menu?.queue ?? []), ...lines] });
  }

  private play(line: Line, { lane }: MenuDesk): void {
    const number = this.count();
    const { voice, sound, item } = line;
    this.set({ saying: { number, line, isStarted: false }, ...(item !== undefined && { item }) });
    this.effects.push({ type: 'play', number, lane, voice, sound });
  }

  private repeat({ lane, language }: MenuDesk): void {
    this.act('repeat', { do: 'repeat', lane, language });
  }

  private act(item: ScreenMenuItem, action: ScreenAction): void {
    const number = this.count();
    this.set({ acting: { number, item } });
    this.effects.push({ type: 'act', number, action });
  }

  private cut(): void {
    const { menu } = this.state;
    if (menu === null) return;
    const lane = this.deskOf(menu.lane)?.lane;
    if (menu.saying !== null && lane !== undefined) this.effects.push({ type: 'cut', lane });
    this.set({ saying: null, endedAt: null });
  }

  private close(): void {
    this.state = { ...this.state, menu: null };
  }

  private count(): number {
    const count = this.state.count + 1;
    this.state = { ...this.state, count };
    return count;
  }

  private deskOf(lane: string): MenuDesk | undefined {
    return this.facts.desks.find(({ lanes }) => lanes.includes(lane));
  }

  private set(change: Partial<Menu>): void {
    const { menu } = this.state;
    if (menu !== null) this.state = { ...this.state, menu: { ...menu, ...change } };
  }
}
