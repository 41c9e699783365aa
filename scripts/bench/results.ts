import type { DayReport } from './day-report.ts';
import type { OwnAccount } from './operator.ts';
import { median, type Spread } from './quantiles.ts';
import type { Cost, Round } from './rounds.ts';
import type { SubjectName } from './subject.ts';

/** Latencies of one subject, without and with load on the other cores. */
export interface Latencies {
  readonly quiet: Spread | null;
  readonly loaded: Spread | null;
}

export interface SubjectResults {
  readonly captureToWire: Latencies;
  readonly wireToSpeaker: Latencies;
  /** Number of sentences that were not found unchanged on the loudspeaker. */
  readonly unheard: number;
  /** Time from the start of the process to the first chunk on the wire, without the service's time. */
  readonly startsMs: readonly number[];
  /** The most memory of the Node process until the end of its warm-up (MB). */
  readonly startPeakMb: number;
}

/** All measurements of one run. */
export interface Results {
  readonly plan: {
    readonly name: string;
    readonly rounds: number;
    readonly roundMs: number;
    readonly loadedRounds: number;
    readonly warmUpMs: number;
  };
  readonly machine: string;
  /** The machine's load average before the run: it reveals other work on the machine. */
  readonly loadBefore: number;
  readonly rounds: readonly Round[];
  readonly loadedRounds: readonly Round[];
  /** Why there was no load, or the share of the other cores that it used. */
  readonly load: string | { readonly cores: number; readonly share: number };
  readonly subjects: ReadonlyMap<SubjectName, SubjectResults>;
  /** The commit measured beside this one; null: none. */
  readonly other: string | null;
  readonly own: OwnAccount | null;
  /** Why the packages were not measured; null if they were. */
  readonly addonsMissing: string | null;
  readonly day: DayReport;
  readonly isRelayUrgent: boolean;
}

/** The goals of the project. */
export const GOALS = {
  cpuRatio: 1.4,
  rssOverMb: 25,
  startPeakMb: 75,
  captureToWireP99Ms: 10,
  wireToSpeakerP99Ms: 80,
  /** Heap growth (MB a day); smaller growth is within the difference of two runs. */
  heapMbPerDay: 1,
  /** Node's CPU and the tree's memory against another commit; smaller differences are those of two runs. */
  otherCpuRatio: 1.1,
  otherRssOverMb: 2,
} as const;

/** A figure of each subject in each round. */
export type CostFigure = (cost: Cost) => number;

export function perRound(rounds: readonly Round[], name: SubjectName, figure: CostFigure): number[] {
  return rounds.flatMap(({ costs }) => {
    const cost = costs.get(name);
    return cost === undefined ? [] : [figure(cost)];
  });
}

/** Cost of the agent compared to another subject, for each round. */
export function against(
  rounds: readonly Round[],
  subject: SubjectName,
  figure: CostFigure,
  compare: (agent: number, other: number) => number,
): number[] {
  return rounds.flatMap(({ costs }) => {
    const [agent, other] = [costs.get('agent'), costs.get(subject)];
    return agent === undefined || other === undefined ? [] : [compare(figure(agent), figure(other))];
  });
}

export const ratio = (agent: number, other: number): number => agent / other;
export const difference = (agent: number, other: number): number => agent - other;

/** Rounds to two decimals, which exceeds the precision of the measurement. */
const round = (value: number): number => Math.round(value * 100) / 100;

const triple = (spread: Spread | null) =>
  spread === null ? null : { p50: round(spread.p50), p99: round(spread.p99), max: round(spread.max) };

/** The last line with `--json`: names and units are fixed. Latencies are those with load on the other cores, if there are any. */
export function summary({ rounds, subjects, load, day }: Results): Record<string, unknown> {
  const agent = subjects.get('agent');
  const state = typeof load === 'string' ? 'quiet' : 'loaded';
  return {
    cpu_ratio_to_bare_loop: round(median(against(rounds, 'bare', ({ cpu }) => cpu.tree, ratio))),
    rss_over_bare_loop_mb: round(median(against(rounds, 'bare', ({ rss }) => rss.tree, difference))),
    ...(subjects.has('other') && {
      node_cpu_ratio_to_other: round(median(against(rounds, 'other', ({ cpu }) => cpu.node, ratio))),
      rss_over_other_mb: round(median(against(rounds, 'other', ({ rss }) => rss.tree, difference))),
    }),
    capture_to_wire_ms: triple(agent?.captureToWire[state] ?? null),
    wire_to_speaker_ms: triple(agent?.wireToSpeaker[state] ?? null),
    startup_ms: Math.round(median(agent?.startsMs ?? [])),
    heap_growth_mb_per_day: round(day.mbPerDay),
  };
}
