import type { LaneAccount } from '../../device/lane/runner/lane-account.ts';
import { neutralise, type ScreenRow } from './display-text.ts';
import { renderCaptions } from './live-captions.ts';
import {
  type Capabilities,
  justify,
  LABEL_WIDTH,
  paint,
  type Row,
  renderRule,
  type Signs,
  type Style,
  signsFor,
} from './live-colors.ts';
import { renderAccounts, renderLatencies } from './live-figures.ts';
import type { Meter } from './live-meter.ts';
import { renderPhase } from './live-phase.ts';
import { planRows } from './live-plan.ts';
import type { DemoModel, Notice } from './model.ts';

/** Size of a terminal (characters). */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The model for the picture, with smoothed levels. */
export interface LiveModel extends DemoModel {
  /** Addresses of the demo's web pages, a line each. */
  readonly pages: readonly string[];
  readonly inputMeter: Meter;
  readonly outputMeter: Meter;
}

/** Maximum width (columns): wider lines are hard to read. */
const WIDEST = 98;
const NARROWEST = 58;
/** Lowest level of a meter (dBFS): about that of a quiet room. */
const METER_FLOOR_DB = -60;
/** From this level on (dBFS), a meter is yellow. */
const LOUD_DB = -12;
/** From this level on (dBFS), a meter is red. */
const TOO_LOUD_DB = -3;
const READOUT_WIDTH = 10;

/**
 * Renders the demo's picture: one column narrower and one row shorter than the terminal, with a constant number of rows at
 * each size. Text from outside is sanitised.
 */
export function renderFrame(
  model: LiveModel,
  account: LaneAccount,
  size: Size,
  capabilities: Capabilities,
): ScreenRow[] {
  const signs = signsFor(capabilities);
  const width = Math.min(WIDEST, Math.max(NARROWEST, size.columns - 2));
  const plan = planRows(Math.max(1, size.rows - 1 - model.pages.length));
  const gap: Row[] = plan.isAiry ? [[]] : [];
  const place = { width, height: plan.captions, signs };
  const rows: Row[] = [
    renderTitle(model, account, width),
    ...model.pages.map((line): Row => [{ text: line, style: 'bold' }]),
    ...gap,
    ...renderPhase(model, width, signs),
    ...gap,
    ...(plan.hasMeters ? renderMeters(model, width, signs) : []),
    renderRule('heard and translated', width, signs),
    ...renderCaptions(model.exchanges, place),
    ...(plan.hasLatencies ? renderLatencies(model, account, width, signs) : []),
    ...(plan.hasAccounts ? renderAccounts(account, width) : []),
    ...(plan.notices > 0 ? renderNotices(model.notices, plan.notices, width, signs) : []),
  ];
  return rows
    .slice(0, Math.max(1, size.rows - 1))
    .map((row) => paint([{ text: ' ' }, ...row], Math.min(width + 1, size.columns - 1), capabilities));
}

function renderTitle({ elapsedMs }: DemoModel, { sessions }: LaneAccount, width: number): Row {
  const right: Row = [
    { text: 'sessions ', style: 'dim' },
    { text: String(sessions).padStart(2) },
    { text: '    time ', style: 'dim' },
    { text: formatTime(elapsedMs) },
  ];
  return justify([{ text: 'Dragoman demo', style: 'bold' }], right, width);
}

function renderMeters(model: LiveModel, width: number, signs: Signs): Row[] {
  return [
    renderMeter('microphone', model.inputMeter, width, signs),
    renderMeter('loudspeaker', model.outputMeter, width, signs),
  ];
}

function renderMeter(label: string, meter: Meter, width: number, signs: Signs): Row {
  const cells = width - LABEL_WIDTH - READOUT_WIDTH;
  const { readoutDb } = meter;
  const readout = readoutDb <= METER_FLOOR_DB ? 'silent' : `${Math.round(readoutDb)} dBFS`;
  return [
    { text: label.padEnd(LABEL_WIDTH), style: 'dim' },
    ...renderBar(meter, cells, signs),
    {
      text: readout.padStart(READOUT_WIDTH),
      style: readoutDb <= METER_FLOOR_DB ? 'dim' : colourOf(readoutDb),
    },
  ];
}

/** Renders each cell in the colour of its level, as on a mixing desk. */
function renderBar({ levelDb, peakDb }: Meter, cells: number, { fill, peak, track }: Signs): Row {
  const position = (db: number): number =>
    Math.min(1, Math.max(0, (db - METER_FLOOR_DB) / -METER_FLOOR_DB)) * cells;
  const filled = Math.round(position(levelDb));
  const peakCell = peakDb <= METER_FLOOR_DB ? -1 : Math.min(cells - 1, Math.floor(position(peakDb)));
  return Array.from({ length: cells }, (_, cell) => {
    const style = colourOf(METER_FLOOR_DB + ((cell + 0.5) / cells) * -METER_FLOOR_DB);
    if (cell < filled) return { text: fill, style };
    return cell === peakCell ? { text: peak, style } : { text: track, style: 'dim' };
  });
}

function colourOf(db: number): Style {
  if (db >= TOO_LOUD_DB) return 'red';
  return db >= LOUD_DB ? 'yellow' : 'green';
}

function renderNotices(notices: readonly Notice[], most: number, width: number, signs: Signs): Row[] {
  const rows = notices.slice(-most).map(
    ({ atMs, text }): Row => [
      { text: `${formatTime(atMs)}  `, style: 'dim' },
      // Announcements of faults are highlighted.
      text.startsWith('***') ? { text: neutralise(text), style: 'yellow' } : { text: neutralise(text) },
    ],
  );
  const blanks = Array.from({ length: most - rows.length }, (): Row => []);
  return [renderRule('what happened', width, signs), ...rows, ...blanks];
}

/** Formats minutes and seconds in six characters. */
function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`.padStart(6);
}
