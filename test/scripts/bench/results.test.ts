import { describe, expect, it } from 'vitest';
import { formatPage } from '../../../scripts/bench/page.ts';
import { drawPlot } from '../../../scripts/bench/plot.ts';
import { type Results, type SubjectResults, summary } from '../../../scripts/bench/results.ts';
import type { Cost } from '../../../scripts/bench/rounds.ts';
import { formatTable, verdictsOf } from '../../../scripts/bench/table.ts';

const cost = (cpu: number, rss: number): Cost => ({
  cpu: { tree: cpu, node: cpu / 2 },
  wakeUps: cpu / 4,
  rss: { tree: rss, node: rss - 13 },
  pss: { tree: rss / 2, node: rss / 2 - 5 },
});
const spread = (p50: number, p99: number, max: number) => ({ p50, p99, max, count: 400 });
const subject = (scale: number): SubjectResults => ({
  captureToWire: {
    quiet: spread(scale, 2 * scale, 3 * scale),
    loaded: spread(1.234 * scale, 4 * scale, 123 * scale),
  },
  wireToSpeaker: { quiet: spread(40, 41, 42), loaded: spread(43, 60, 61) },
  unheard: 0,
  startsMs: [700, 900, 800],
  startPeakMb: 70 * scale,
});

function results(more: Partial<Results> = {}): Results {
  const round = (agent: number, bare: number) => ({
    fromMs: 0,
    untilMs: 1,
    costs: new Map([
      ['agent', cost(agent, 90)],
      ['bare', cost(bare, 70)],
    ] as const),
  });
  return {
    plan: { name: 'full', rounds: 3, roundMs: 30_000, loadedRounds: 1, warmUpMs: 15_000 },
    machine: '2 cores',
    loadBefore: 0.1,
    // A slow round is slow for both programs: only their ratio counts.
    rounds: [round(26, 20), round(56, 40), round(30, 20)],
    loadedRounds: [round(30, 20)],
    load: { cores: 1, share: 0.98 },
    subjects: new Map([
      ['agent', subject(1)],
      ['bare', subject(0.5)],
    ] as const),
    other: null,
    own: null,
    addonsMissing: 'asked for with --with-addons',
    day: {
      hours: 24,
      seconds: 60,
      chunks: 1,
      sentences: 2,
      sessions: 3,
      commands: 4,
      points: [],
      mbPerDay: 0.123,
      detector: 'fvad',
    },
    isRelayUrgent: true,
    ...more,
  };
}

describe('the benchmark results', () => {
  it('have a last line with fixed names', () => {
    expect(summary(results())).toEqual({
      cpu_ratio_to_bare_loop: 1.4,
      rss_over_bare_loop_mb: 20,
      capture_to_wire_ms: { p50: 1.23, p99: 4, max: 123 },
      wire_to_speaker_ms: { p50: 43, p99: 60, max: 61 },
      startup_ms: 800,
      heap_growth_mb_per_day: 0.12,
    });
  });

  it('contain latencies without load when there is no other core', () => {
    expect(summary(results({ load: 'this machine has one core only' }))).toMatchObject({
      capture_to_wire_ms: { p50: 1, p99: 2, max: 3 },
    });
  });

  it('fit 80 columns', () => {
    const lines = formatTable(results()).split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('show met and missed goals', () => {
    const met = (more: Partial<Results>): (boolean | null)[] =>
      verdictsOf(results(more)).map(({ isMet }) => isMet);
    expect(met({})).toEqual([true, true, true, true, true, true]);
    const slow = { ...subject(1), captureToWire: subject(3).captureToWire };
    const late = { ...slow, startPeakMb: 76, wireToSpeaker: { quiet: null, loaded: null } };
    const costly = results().rounds.map((round) => ({
      ...round,
      costs: new Map([...round.costs, ['agent', cost(70, 96)] as const]),
    }));
    const subjects = new Map([...results().subjects, ['agent', late] as const]);
    expect(met({ subjects, rounds: costly })).toEqual([false, false, false, false, null, true]);
  });

  it('compare Node and memory with another commit', () => {
    const rounds = results().rounds.map((round, at) => ({
      ...round,
      costs: new Map([...round.costs, ['other', cost(20 + at, 87)] as const]),
    }));
    const subjects = new Map([...results().subjects, ['other', subject(1)] as const]);
    const both = results({ rounds, subjects, other: 'v1.2.3' });
    expect(summary(both)).toMatchObject({ node_cpu_ratio_to_other: 1.36, rss_over_other_mb: 3 });
    expect(verdictsOf(both).slice(-2)).toMatchObject([
      { measured: '1.36 (1.30 to 2.67)', isMet: false },
      { measured: '+3.0 (+3.0 to +3.0)', isMet: false },
    ]);
    const lines = formatTable(both).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.some((line) => line.includes('The other commit is v1.2.3'))).toBe(true);
  });

  it('are drawn and written to the page', () => {
    const plot = drawPlot(results());
    expect(plot.match(/<rect[^>]* fill="#2a8fd6"/g)).toHaveLength(4);
    expect(plot).not.toMatch(/NaN|undefined|Infinity/);
    expect(formatPage(results())).toContain('| CPU against the bare loop | 1.40 (1.30 to 1.50) |');
    expect(formatPage(results())).toContain('| wake-ups of Node, a second | 7.5 | 5.0 |');
  });
});
