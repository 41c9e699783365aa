import type { Page } from 'puppeteer-core';
import { noticeIn } from '../../src/device/desk/notice.ts';
import type { ScreenChange, ScreenLane, ScreenStatus, ScreenText } from '../../src/protocol/screen.ts';

/** The table of all states of the kiosk's page. A new dialog or state is one more row. */

export const SIZES = [
  [800, 480],
  [1024, 600],
  [1280, 800],
  [1920, 1080],
  [600, 1024],
] as const;

/** A usual sentence of 70 to 80 letters for each script. */
export const SENTENCES = {
  es: ['Mi hija usa silla de ruedas. ¿Hay ascensor al segundo piso del museo?', '¿A qué hora cierra hoy?'],
  ar: ['ابنتي تستخدم كرسيًا متحركًا. هل يوجد مصعد إلى الطابق الثاني من المتحف؟', 'متى يغلق المتحف اليوم؟'],
  hi: ['मेरी बेटी व्हीलचेयर पर है। क्या दूसरी मंज़िल तक जाने के लिए लिफ़्ट है?', 'संग्रहालय आज कब बंद होगा?'],
  zh: ['我女儿坐轮椅。请问博物馆有没有到二楼的电梯？我们想看展览。', '博物馆今天几点关门？'],
} as const;
/** A language of each script: Latin, Arabic, Devanagari, Chinese. */
export type Target = keyof typeof SENTENCES;
export const TARGETS = Object.keys(SENTENCES) as Target[];

const ENGLISH = ['My daughter uses a wheelchair. Is there a lift to the second floor?', 'When do you close?'];

export interface ScreenState {
  readonly name: string;
  readonly status: ScreenStatus;
  /** What has been said. */
  readonly texts?: 'some';
  /** No conversation is under way. */
  readonly isIdle?: true;
  readonly turn?: 'button' | 'hold';
  /** Selector of the button that opens a dialog. */
  readonly opens?: string;
}

const listening = { kind: 'listening' } as const;

export const SCREEN_STATES: readonly ScreenState[] = [
  { name: 'idle', status: { kind: 'standby' }, isIdle: true },
  { name: 'idle, hold', status: { kind: 'muted' }, isIdle: true, turn: 'hold' },
  { name: 'listening', status: listening },
  { name: 'conversation', status: listening, texts: 'some' },
  { name: 'speaking', status: { kind: 'speaking' }, texts: 'some' },
  { name: 'translating', status: { kind: 'translating' }, texts: 'some' },
  { name: 'hold', status: { kind: 'muted' }, turn: 'hold' },
  { name: 'turns', status: listening, texts: 'some', turn: 'button' },
  { name: 'muted', status: { kind: 'muted' }, texts: 'some' },
  { name: 'no connection', status: { kind: 'offline', cause: 'connection' } },
  { name: 'no microphone', status: { kind: 'offline', cause: 'microphone' } },
  { name: 'no loudspeaker', status: { kind: 'offline', cause: 'loudspeaker' } },
  { name: 'closed', status: { kind: 'closed', until: null } },
  { name: 'closed until', status: { kind: 'closed', until: '2026-11-30T08:00:00.000Z' } },
  { name: 'language dialog', status: listening, opens: '.panel.target .bar .language' },
  { name: 'typing dialog', status: listening, opens: '.panel.source .bar .keyboard, .panel .bar .keyboard' },
];

/** What the agent sends for a state, for visitors with this language. */
export function stateFor(
  state: ScreenState,
  target: Target,
  conversation: number,
): Omit<ScreenChange, 'seq'> {
  const { turn = null } = state;
  const lane: ScreenLane = {
    id: 'main',
    source: 'en',
    targets: [target],
    offer: TARGETS,
    visitor: target,
    typing: [{ from: 'en', into: target }],
    turn:
      turn === null ? null : { mode: turn, speakers: ['source', 'target'], speaker: 'source', isOpen: false },
    volume: 80,
    repeatable: [],
  };
  const said = state.texts === undefined ? [] : textsFor(target, conversation);
  return {
    conversation,
    status: state.status,
    level: 6,
    lanes: [lane],
    notices: ['en', ...TARGETS].map((language) => noticeIn(language, {})),
    isTalking: state.isIdle !== true,
    endsInMs: null,
    texts: said,
  };
}

function textsFor(target: Target, conversation: number): ScreenText[] {
  const rows = [
    ...ENGLISH.map((text) => ['en', text, true] as const),
    ...SENTENCES[target].map((text) => [target, text, false] as const),
  ];
  return rows.map(([language, text, isSpoken], index) => ({
    language,
    text,
    breaks: true,
    isSpoken,
    number: conversation * 10 + index,
  }));
}

/** Texts that are cut off by an edge of the screen or of their box or lie under a button, and buttons that are smaller than the rule. */
export const FAULTS = `(() => {
  const found = [];
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const inDialog = document.querySelector('dialog');
  const root = inDialog ?? document.body;
  // Captions and long notices scroll: only their width counts.
  const scrolls = (element) => element.matches('.captions, .parts, .choices, .offers');
  const buttons = [...root.querySelectorAll('button')].filter(isShown);
  const lies = (box, { left, right, top, bottom }) =>
    box.left < right - 1 && box.right > left + 1 && box.top < bottom - 1 && box.bottom > top + 1;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (node.data.trim() === '' || parent.closest('h1, script, style') !== null || !isShown(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const letter = parseFloat(getComputedStyle(parent).fontSize);
    let [left, right, top, bottom] = [0, innerWidth, 0, innerHeight];
    let isScrolled = false;
    // A dialog is above the panels, whose edges do not cut it.
    for (let outer = parent; outer !== null && outer !== root.parentElement; outer = outer.parentElement) {
      const { overflowX, display } = getComputedStyle(outer);
      if (scrolls(outer)) isScrolled = true;
      if (overflowX === 'visible' || display === 'inline' || outer.matches('.parts')) continue;
      const edge = outer.getBoundingClientRect();
      left = Math.max(left, edge.left);
      right = Math.min(right, edge.right);
      if (isScrolled) continue;
      // The box of a text is higher than its letters.
      top = Math.max(top, edge.top - letter * 0.2);
      bottom = Math.min(bottom, edge.bottom + letter * 0.2);
    }
    const isWide = !parent.closest('.parts') && (box.left < left - 1 || box.right > right + 1);
    const isHigh = !isScrolled && (box.top < top - 1 || box.bottom > bottom + 1);
    const isFree = !isScrolled && parent.closest('button, .parts') === null;
    const lines = isFree ? [...range.getClientRects()] : [];
    const over = buttons.find((button) => lines.some((line) => lies(line, button.getBoundingClientRect())));
    if (over !== undefined) found.push('under ' + (over.ariaLabel ?? over.textContent) + ': ' + node.data);
    if (isWide || isHigh) found.push((isWide ? 'cut in width: ' : 'cut in height: ') + node.data);
  }
  const main = getComputedStyle(document.querySelector('main'));
  const small = parseFloat(main.fontSize);
  const choice = parseFloat(main.getPropertyValue('--choice'));
  // As the largest keyboard on the smallest screen has room for.
  const LEAST_KEY_PX = 30;
  // A finger needs 10 mm; --choice is 15 mm.
  const FINGER = choice / 1.5;
  const least = (button) => {
    if (button.closest('.keys') !== null) return LEAST_KEY_PX;
    if (button.closest('.choices') !== null) return choice;
    if (button.closest('.bar') === null) return 1.5 * small;
    return button.closest('dialog') === null ? FINGER : 1.6 * small;
  };
  for (const button of root.querySelectorAll('button')) {
    const { width, height } = button.getBoundingClientRect();
    const wanted = least(button);
    const name = button.ariaLabel ?? button.textContent;
    if (isShown(button) && (height < wanted - 1 || width < Math.min(wanted, 1.5 * small) - 1))
      found.push('a small button: ' + name + ' ' + Math.round(width) + ' x ' + Math.round(height));
  }
  return found;
})()`;

export const faultsOf = (page: Page) => page.evaluate(FAULTS) as Promise<string[]>;
