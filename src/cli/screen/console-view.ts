import { ownName } from '../../core/language-names.ts';
import {
  advanceLines,
  appendText,
  type Lines,
  layOutRead,
  noLines,
  type Room,
} from '../../device/screen/captions/lines.ts';
import { type Wording, wordingOf } from '../../device/screen/wording.ts';
import type { ReadChange, ReadSnapshot } from '../../protocol/screen-events.ts';
import {
  displayWidth,
  padTo,
  plainRow,
  type ScreenRow,
  truncate,
  wrapColumns,
} from '../demo/display-text.ts';
import { consoleText, isForConsole } from './console-text.ts';

const OFFLINE = { kind: 'offline', cause: 'connection' } as const;
const LEVELS = 10;
/** Lines for each language, as subtitles have. */
const ROWS = 2;
const NO_LETTERS = 'A text console has no letters for this language: use a browser (dragoman-screen).';

/** The page as rows of a text console: two lines for each language. */
export interface ConsoleView {
  begin(snapshot: ReadSnapshot): void;
  take(change: ReadChange): void;
  lost(): void;
  /** The present rows. `wakeAt`: when they change without another event; null: they do not. */
  look(now: number): { readonly rows: readonly ScreenRow[]; readonly wakeAt: number | null };
}

/** @param wall the time of day; null while it is not known */
export function createConsoleView(width: number, wall: () => number | null): ConsoleView {
  const room: Room = { width, rows: ROWS, gap: 0, measure: displayWidth };
  const captions = new Map<string, Lines>();
  let shown: ReadSnapshot | null = null;
  let isConnected = false;

  const append = (texts: ReadSnapshot['texts']): void => {
    for (const { language, text, breaks } of texts) {
      const lines = captions.get(language) ?? noLines(language);
      captions.set(language, appendText(lines, { text: consoleText(text), breaks, isSpoken: false }));
    }
  };
  const statusOf = () => (isConnected && shown !== null ? shown.status : OFFLINE);

  /** Text in place of captions: what to do, or an invitation. */
  const coverOf = (language: string, words: Wording): string => {
    const status = statusOf();
    const isHeld = shown?.lanes[0]?.turn?.mode === 'hold';
    if (status.kind === 'offline')
      return { connection: words.wait, microphone: words.microphone, loudspeaker: words.loudspeaker }[
        status.cause
      ];
    if (status.kind === 'closed') return status.until === null ? '' : untilText(words, status.until, wall());
    const isQuiet = status.kind === 'listening' || (isHeld && status.kind === 'muted');
    if (status.kind !== 'standby' && !(isQuiet && captions.size === 0)) return '';
    const notice = shown?.notices.find((one) => one.language === language)?.text ?? '';
    return `${isHeld ? words.hold : words.begin}. ${consoleText(notice)}`.trim();
  };
  const panel = (language: string): string[] => {
    if (!isForConsole(language)) {
      const name = new Intl.DisplayNames(['en'], { type: 'language' }).of(language) ?? language;
      return [name, '', ...wrapColumns(NO_LETTERS, width), ''];
    }
    const words = wordingOf(language);
    const status = statusOf();
    const state =
      status.kind === 'offline' && status.cause !== 'connection'
        ? words.broken
        : stateText(words, status.kind);
    const level = statusOf().kind === 'offline' ? 0 : (shown?.level ?? 0);
    const bar = `[${'#'.repeat(level).padEnd(LEVELS)}]`;
    const head = truncate(`${ownName(language)}: ${state}`, width - displayWidth(bar) - 1, '...');
    const cover = wrapColumns(coverOf(language, words), width);
    const lines =
      captions
        .get(language)
        ?.lines.slice(-ROWS)
        .map(({ text }) => text.trimEnd()) ?? [];
    const body = cover.length > 0 ? cover : lines;
    return [padTo(head, width - displayWidth(bar)) + bar, '', ...body, ...Array(ROWS).fill('')].slice(
      0,
      2 + Math.max(ROWS, cover.length),
    );
  };

  return {
    begin(snapshot) {
      shown = snapshot;
      isConnected = true;
      captions.clear();
      append(snapshot.texts);
      for (const [language, lines] of captions) captions.set(language, layOutRead(lines, room));
    },
    take(change) {
      isConnected = true;
      if (shown === null) return;
      shown = {
        status: change.status ?? shown.status,
        level: change.level ?? shown.level,
        lanes: change.lanes ?? shown.lanes,
        notices: change.notices ?? shown.notices,
        texts: [],
      };
      if (change.conversation !== undefined) captions.clear();
      append(change.texts ?? []);
    },
    lost() {
      isConnected = false;
    },
    look(now) {
      const wakes: number[] = [];
      for (const [language, lines] of captions) {
        const step = advanceLines(lines, room, now);
        captions.set(language, step.lines);
        if (step.wakeAt !== null) wakes.push(step.wakeAt);
      }
      const [lane] = shown?.lanes ?? [];
      const source = lane?.source ?? 'en';
      const languages = new Set([lane?.targets[0] ?? source, source]);
      const rows = [...languages].flatMap((language) => [...panel(language), '']);
      return { rows: rows.map(plainRow), wakeAt: wakes.length === 0 ? null : Math.min(...wakes) };
    },
  };
}

function stateText(words: Wording, kind: ReadSnapshot['status']['kind']): string {
  return kind === 'standby' ? words.listening : words[kind];
}

function untilText(words: Wording, until: string, wall: number | null): string {
  const at = new Date(until);
  const isToday = wall !== null && at.toDateString() === new Date(wall).toDateString();
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = isToday ? '' : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
  return words.until.replace('{t}', `${day}${two(at.getHours())}:${two(at.getMinutes())}`);
}
