import type { LaneAccount } from '../../device/lane/runner/lane-account.ts';
import type { LatencySummary } from '../../device/lane/runner/latency.ts';
import { justify, LABEL_WIDTH, type Row, renderRule, type Signs } from './live-colors.ts';
import type { DemoModel } from './model.ts';

/** Two rows with a heading: delays of the audio, backlog and played time. */
export function renderLatencies(model: DemoModel, account: LaneAccount, width: number, signs: Signs): Row[] {
  const pair = (name: string, latency: LatencySummary | null): Row => [
    { text: name.padEnd(LABEL_WIDTH), style: 'dim' },
    { text: 'p50 ', style: 'dim' },
    { text: formatMs(latency?.p50, signs) },
    { text: '  p99 ', style: 'dim' },
    { text: formatMs(latency?.p99, signs) },
  ];
  const seconds = (name: string, ms: number): Row => [
    { text: name, style: 'dim' },
    { text: `${(ms / 1000).toFixed(1)} s`.padStart(8) },
  ];
  return [
    renderRule('latency and chunks', width, signs),
    justify(pair('mic to wire', account.capture_to_wire_ms), seconds('backlog', model.backlogMs), width),
    justify(pair('wire to ear', account.wire_to_speaker_ms), seconds('played ', account.played_ms), width),
  ];
}

/** What became of the captured chunks, as an equation. */
export function renderAccounts(account: LaneAccount, width: number): Row[] {
  const { captured, sent, silenced, trimmed, dropped, held } = account;
  const columns: readonly [name: string, sign: string, count: number, cells: number][] = [
    ['captured', ' = ', captured, 8],
    ['sent', ' + ', sent, 6],
    ['silenced', ' + ', silenced, 8],
    ['trimmed', ' + ', trimmed, 7],
    ['dropped', ' + ', dropped, 7],
    ['held', '', held, 6],
  ];
  const roomy = columns.reduce((sum, [, sign, , cells]) => sum + sign.length + cells, LABEL_WIDTH) <= width;
  const lead = (label: string): Row => (roomy ? [{ text: label.padEnd(LABEL_WIDTH), style: 'dim' }] : []);
  const names: Row = columns.map(([name, sign, , cells]) => ({
    text: name.padStart(cells) + sign,
    style: 'dim',
  }));
  const counts: Row = columns.flatMap(([name, sign, count, cells]): Row => {
    const text = String(count).padStart(cells) + ' '.repeat(sign.length);
    return [name === 'dropped' && count > 0 ? { text, style: 'yellow' } : { text }];
  });
  return [
    [...lead('chunks'), ...names],
    [...lead(''), ...counts],
  ];
}

/** Formats a delay in nine characters. */
function formatMs(ms: number | undefined, { none }: Signs): string {
  if (ms === undefined) return `${none}   `.padStart(9);
  return `${ms < 1000 ? ms.toFixed(1) : ms.toFixed(0)} ms`.padStart(9);
}
