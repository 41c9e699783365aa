import type { AudioFault } from '../../ports/audio.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import type { MeterLine, MeterReading } from '../../protocol/devices-report.ts';
import { SILENCE_DBFS } from '../../sound/pcm.ts';
import { clips } from '../../sound/sound-level.ts';
import { looksLikeSpeech } from '../../sound/speech/decision.ts';
import { plainRow, truncate, wrapColumns } from '../demo/display-text.ts';
import { follow, type Meter, SILENT_METER } from '../demo/live-meter.ts';
import { createScreen, type LiveTerminal } from '../demo/live-screen.ts';
import type { Reading } from './listener.ts';
import type { MeterView } from './meter.ts';

/** Interval of a live meter (ms): ten updates per second look like motion. */
const LIVE_EVERY_MS = 100;
const LINE_EVERY_MS = 1000;
/** Minimum display time of a clipped sample (ms). */
const CLIPPED_HOLD_MS = 2000;
/** Minimum display time of a syllable (ms). */
const SPEECH_HOLD_MS = 600;
/** Minimum display time of a number (ms), so that it is readable. */
const NUMBER_HOLD_MS = 400;
/** Level at the left end of the bar (dBFS). */
const BAR_FLOOR_DB = -60;
const LONGEST_WORD = 'digital silence'.length;
const SHORTEST_BAR = 5;
const DEFAULT_COLUMNS = 80;

const columnsOf = ({ columns }: LiveTerminal): number => columns ?? DEFAULT_COLUMNS;

/** One row of a terminal, redrawn in place. */
export function createLiveMeter(
  terminal: LiveTerminal,
  { unicode }: { readonly unicode: boolean },
): MeterView {
  const screen = createScreen(terminal);
  let meter: Meter = SILENT_METER;
  let peak: Meter = SILENT_METER;
  let rms = { db: SILENCE_DBFS, until: 0 };
  let clippedUntil = 0;
  let speechUntil = 0;
  let lastFault: AudioFault | null = null;

  const draw = (row: string): void => {
    const columns = columnsOf(terminal);
    screen.draw([plainRow(truncate(row, columns - 1, '~'))], columns);
  };
  return {
    everyMs: LIVE_EVERY_MS,
    isEven: true,
    show(reading, now) {
      if (reading.ms === 0) {
        meter = peak = SILENT_METER;
        return draw(lastFault === null ? 'waiting for sound ...' : describeFault(lastFault));
      }
      lastFault = null;
      meter = follow(meter, reading.rmsDb, now);
      peak = follow(peak, reading.peakDb, now);
      if (now >= rms.until) rms = { db: reading.rmsDb, until: now + NUMBER_HOLD_MS };
      if (clips(reading.clippedShare) === true) clippedUntil = now + CLIPPED_HOLD_MS;
      if (looksLikeSpeech(reading.speechMs, reading.ms)) speechUntil = now + SPEECH_HOLD_MS;
      const word = wordFor({ ...reading, isClipping: now < clippedUntil, isSpeaking: now < speechUntil });
      const { levelDb } = meter;
      const { peakDb: markDb, readoutDb: peakDb } = peak;
      draw(meterRow({ levelDb, markDb, rmsDb: rms.db, peakDb, word }, columnsOf(terminal), unicode));
    },
    fault(fault) {
      lastFault = fault;
      draw(describeFault(fault));
    },
    end: () => screen.restore(),
  };
}

/** One line per second, for a file or another program. */
export function createLineMeter(print: (text: string) => void): MeterView {
  return {
    everyMs: LINE_EVERY_MS,
    isEven: false,
    show(reading, at) {
      if (reading.ms === 0) return print(`${formatSeconds(at)}  no sound\n`);
      const word = wordFor({
        ...reading,
        isClipping: clips(reading.clippedShare) === true,
        isSpeaking: looksLikeSpeech(reading.speechMs, reading.ms),
      });
      print(
        `${formatSeconds(at)}  ${formatLevels(reading.rmsDb, reading.peakDb)}  ${word}`
          .trimEnd()
          .concat('\n'),
      );
    },
    fault: ({ message }) =>
      print(`${wrapColumns(`waiting for the microphone: ${message}`, DEFAULT_COLUMNS).join('\n')}\n`),
    end: () => {},
  };
}

/** One JSON object per second, and one per fault. */
export function createJsonMeter(print: (text: string) => void): MeterView {
  const printLine = (line: MeterLine): void => print(jsonLine(line));
  return {
    everyMs: LINE_EVERY_MS,
    isEven: false,
    show(reading, at) {
      printLine({ t_s: Math.round(at / 100) / 10, ...reportReading(reading) });
    },
    fault: ({ code, message }) => printLine({ fault: { code, message } }),
    end: (total) => printLine({ summary: reportReading(total) }),
  };
}

function reportReading({ ms, rmsDb, peakDb, clipped, isDigitalSilence, speechMs }: Reading): MeterReading {
  return {
    sound_ms: Math.round(ms),
    rms_dbfs: Math.round(rmsDb * 10) / 10,
    peak_dbfs: Math.round(peakDb * 10) / 10,
    clipped_samples: clipped,
    digital_silence: isDigitalSilence,
    speech_ms: Math.round(speechMs),
  };
}

/** Describes a fault; the text for a removed device is short, to fit a row. */
function describeFault({ code, message }: AudioFault): string {
  const isGone = code === 'lost' || code === 'not_found';
  return isGone ? 'the microphone is gone; waiting for it ...' : `waiting for the microphone: ${message}`;
}

interface Row {
  readonly levelDb: number;
  readonly markDb: number;
  readonly rmsDb: number;
  readonly peakDb: number;
  readonly word: string;
}

interface Condition {
  readonly isDigitalSilence: boolean;
  readonly isClipping: boolean;
  readonly isSpeaking: boolean;
}

/** The word for the worst condition. */
function wordFor({ isDigitalSilence, isClipping, isSpeaking }: Condition): string {
  if (isClipping) return 'CLIPPED';
  if (isDigitalSilence) return 'digital silence';
  return isSpeaking ? 'speech' : '';
}

/** Formats `[#####      |   ]  rms -23.4  peak -12.1 dBFS  speech`; the bar is short or missing on a narrow terminal. */
function meterRow({ levelDb, markDb, rmsDb, peakDb, word }: Row, columns: number, unicode: boolean): string {
  const numbers = `${formatLevels(rmsDb, peakDb)}  ${word.padEnd(LONGEST_WORD)}`;
  const room = columns - 1 - numbers.length - '[]  '.length;
  return room < SHORTEST_BAR ? numbers : `[${bar(levelDb, markDb, room, unicode)}]  ${numbers}`;
}

function bar(levelDb: number, markDb: number, width: number, unicode: boolean): string {
  const [full, mark] = unicode ? ['█', '│'] : ['#', '|'];
  const place = (db: number): number => Math.round((1 - Math.max(BAR_FLOOR_DB, db) / BAR_FLOOR_DB) * width);
  const filled = place(levelDb);
  const marked = Math.min(width, place(markDb));
  return Array.from({ length: width }, (_, at) => {
    if (at === marked - 1 && marked > filled) return mark;
    return at < filled ? full : ' ';
  }).join('');
}

function formatLevels(rmsDb: number, peakDb: number): string {
  return `rms ${rmsDb.toFixed(1).padStart(5)}  peak ${peakDb.toFixed(1).padStart(5)} dBFS`;
}

function formatSeconds(ms: number): string {
  return `${String(Math.round(ms / 1000)).padStart(4)} s`;
}
