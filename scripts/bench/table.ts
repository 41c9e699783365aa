import { median, quantile, type Spread } from './quantiles.ts';
import {
  against,
  type CostFigure,
  difference,
  GOALS,
  type Latencies,
  perRound,
  type Results,
  ratio,
  type SubjectResults,
} from './results.ts';
import { SUBJECTS, type SubjectName } from './subject.ts';

/** One line of the results, a column for each subject. */
export interface Row {
  readonly label: string;
  readonly cells: Readonly<Record<SubjectName, string>>;
}

export interface Verdict {
  readonly label: string;
  readonly measured: string;
  readonly goal: string;
  /** Null if nothing was measured. */
  readonly isMet: boolean | null;
}

export const TITLES: Readonly<Record<SubjectName, string>> = {
  agent: 'agent',
  other: 'other commit',
  bare: 'bare loop',
  addons: 'packages',
};

const NOTHING = '-';

/** Median of several rounds, with minimum and maximum. */
export function range(values: readonly number[], digits: number, sign = ''): string {
  if (values.length === 0) return NOTHING;
  const show = (value: number): string => `${value > 0 ? sign : ''}${value.toFixed(digits)}`;
  const middle = show(median(values));
  if (values.length === 1) return middle;
  return `${middle} (${show(quantile(values, 0))} to ${show(quantile(values, 1))})`;
}

function spread(value: Spread | null | undefined): string {
  if (value == null) return NOTHING;
  const show = (ms: number): string => (ms < 9.95 ? ms.toFixed(1) : String(Math.round(ms)));
  return `${show(value.p50)} / ${show(value.p99)} / ${show(value.max)}`;
}

function row(label: string, cell: (name: SubjectName) => string): Row {
  return {
    label,
    cells: { agent: cell('agent'), other: cell('other'), bare: cell('bare'), addons: cell('addons') },
  };
}

/** Rows of the table, for the terminal and for the page. */
export function rowsOf(results: Results): Row[] {
  const { rounds, loadedRounds, subjects } = results;
  const cost = (label: string, figure: CostFigure, over = rounds): Row =>
    row(label, (name) => {
      const values = perRound(over, name, figure);
      return values.length === 0 ? NOTHING : median(values).toFixed(1);
    });
  const latency = (label: string, pick: (subject: SubjectResults) => Latencies): Row[] => {
    const of = (state: keyof Latencies) => (name: SubjectName) => {
      const subject = subjects.get(name);
      return spread(subject === undefined ? null : pick(subject)[state]);
    };
    return [row(label, of('quiet')), row('  other cores busy', of('loaded'))];
  };
  return [
    cost('CPU, s per hour of audio', ({ cpu }) => cpu.tree),
    cost('  Node alone', ({ cpu }) => cpu.node),
    cost('  other cores busy', ({ cpu }) => cpu.tree, loadedRounds),
    cost('wake-ups of Node, a second', ({ wakeUps }) => wakeUps),
    cost('resident memory, MB', ({ rss }) => rss.tree),
    cost('  Node alone', ({ rss }) => rss.node),
    cost('  proportional (PSS)', ({ pss }) => pss.tree),
    ...latency('capture to wire, ms *', ({ captureToWire }) => captureToWire),
    ...latency('wire to speaker, ms *', ({ wireToSpeaker }) => wireToSpeaker),
    row('start to first chunk, ms', (name) => {
      const starts = subjects.get(name)?.startsMs ?? [];
      return starts.length === 0 ? NOTHING : median(starts).toFixed(0);
    }),
    row('start, peak memory of Node, MB', (name) => subjects.get(name)?.startPeakMb.toFixed(1) ?? NOTHING),
  ];
}

/** The goals of the project and whether they are met. */
export function verdictsOf({ rounds, subjects, load, day }: Results): Verdict[] {
  const agent = subjects.get('agent');
  const state = typeof load === 'string' ? 'quiet' : 'loaded';
  const cpu = against(rounds, 'bare', ({ cpu: figure }) => figure.tree, ratio);
  const rss = against(rounds, 'bare', ({ rss: figure }) => figure.tree, difference);
  const otherCpu = against(rounds, 'other', ({ cpu: figure }) => figure.node, ratio);
  const otherRss = against(rounds, 'other', ({ rss: figure }) => figure.tree, difference);
  const latency = (label: string, measured: Spread | null, goalMs: number): Verdict => ({
    label: `${label}, p99`,
    measured: measured === null ? NOTHING : `${measured.p99.toFixed(1)} ms (n = ${measured.count})`,
    goal: `below ${goalMs} ms`,
    isMet: measured === null ? null : measured.p99 < goalMs,
  });
  return [
    {
      label: 'CPU against the bare loop',
      measured: range(cpu, 2),
      goal: `at most ${GOALS.cpuRatio}`,
      isMet: cpu.length === 0 ? null : median(cpu) <= GOALS.cpuRatio,
    },
    {
      label: 'memory over the bare loop, MB',
      measured: range(rss, 1, '+'),
      goal: `at most +${GOALS.rssOverMb}`,
      isMet: rss.length === 0 ? null : median(rss) <= GOALS.rssOverMb,
    },
    {
      label: 'memory at the start, MB',
      measured: agent === undefined ? NOTHING : agent.startPeakMb.toFixed(1),
      goal: `at most ${GOALS.startPeakMb}`,
      isMet: agent === undefined ? null : agent.startPeakMb <= GOALS.startPeakMb,
    },
    latency('capture to wire', agent?.captureToWire[state] ?? null, GOALS.captureToWireP99Ms),
    latency('wire to speaker', agent?.wireToSpeaker[state] ?? null, GOALS.wireToSpeakerP99Ms),
    {
      label: `heap growth in ${day.hours} simulated hours`,
      measured: `${day.mbPerDay.toFixed(2)} MB a day`,
      goal: `below ${GOALS.heapMbPerDay} MB`,
      isMet: day.mbPerDay < GOALS.heapMbPerDay,
    },
    ...(subjects.has('other')
      ? [
          {
            label: "Node's CPU against the other commit",
            measured: range(otherCpu, 2),
            goal: `at most ${GOALS.otherCpuRatio}`,
            isMet: otherCpu.length === 0 ? null : median(otherCpu) <= GOALS.otherCpuRatio,
          },
          {
            label: 'memory over the other commit, MB',
            measured: range(otherRss, 1, '+'),
            goal: `at most +${GOALS.otherRssOverMb}`,
            isMet: otherRss.length === 0 ? null : median(otherRss) <= GOALS.otherRssOverMb,
          },
        ]
      : []),
  ];
}

/** Sentences about how the figures were measured. */
export function notesOf(results: Results): string[] {
  const { plan, load, own, addonsMissing, subjects, day, isRelayUrgent, loadBefore, other } = results;
  const seconds = plan.roundMs / 1000;
  const busy =
    typeof load === 'string'
      ? `No load on other cores: ${load}.`
      : `${plan.loadedRounds} more with ${load.cores === 1 ? 'the other core' : `${load.cores} other cores`} busy (the load got ${Math.round(load.share * 100)} % of it).`;
  const others =
    loadBefore > MOST_LOAD_BEFORE
      ? [
          `The machine was doing other work: its load average was ${loadBefore.toFixed(1)} when the run began.`,
        ]
      : [];
  const unheard = [...subjects].filter(([, subject]) => subject.unheard > 0);
  return [
    '* p50 / p99 / max.',
    `Medians of ${plan.rounds} rounds of ${seconds} s, all subjects at the same time, ${Math.round(plan.warmUpMs / 1000)} s after their start; ${busy}`,
    ...others,
    ...(other === null
      ? []
      : [
          `The other commit is ${other}: its agent and unit file, with the broker, backend and service of this one.`,
        ]),
    ...(isRelayUrgent
      ? []
      : ['The relay ran without priority: latencies to the wire include its own delay.']),
    ...(own === null
      ? []
      : [
          `The agent's own figures since its start: capture to wire ${spread(own.capture_to_wire_ms)}, wire to speaker ${spread(own.wire_to_speaker_ms)}.`,
        ]),
    ...unheard.map(
      ([name, { unheard: count }]) => `${TITLES[name]}: ${count} sentences were not played unchanged.`,
    ),
    ...(addonsMissing === null
      ? []
      : [`alsa-capture and speaker in one process: not measured: ${addonsMissing}.`]),
    `Simulated day: ${day.chunks} chunks, ${day.sentences} sentences, ${day.sessions} sessions in ${day.seconds.toFixed(0)} s.`,
  ];
}

const WIDTH = 80;
/** Load average above that of an idle machine. */
const MOST_LOAD_BEFORE = 0.5;

/** All results, 80 columns wide. */
export function formatTable(results: Results): string {
  const rows = rowsOf(results);
  const shown = SUBJECTS.filter((name) => results.subjects.has(name));
  const labelWidth = Math.max(...rows.map(({ label }) => label.length)) + 1;
  const cellWidth = Math.floor((WIDTH - labelWidth) / shown.length);
  const line = (label: string, cells: readonly string[]): string =>
    `${label.padEnd(labelWidth)}${cells.map((cell) => cell.padStart(cellWidth)).join('')}`.trimEnd();
  const verdicts = verdictsOf(results).map(
    ({ label, measured, goal, isMet }) =>
      `${label.padEnd(36)}${measured.padEnd(23)}${goal.padEnd(15)}${isMet === null ? '' : isMet ? 'met' : 'missed'}`,
  );
  return [
    '',
    results.machine,
    '',
    line(
      '',
      shown.map((name) => TITLES[name]),
    ),
    ...rows.map(({ label, cells }) =>
      line(
        label,
        shown.map((name) => cells[name]),
      ),
    ),
    '',
    ...verdicts,
    '',
    ...notesOf(results).flatMap((note) => wrap(note)),
    '',
  ].join('\n');
}

function wrap(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length + 1 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
