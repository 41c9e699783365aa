import { median, quantile } from './quantiles.ts';
import { GOALS, perRound, type Results } from './results.ts';
import { SUBJECTS, type SubjectName } from './subject.ts';
import { TITLES } from './table.ts';

/** Colours that are distinct on white and black, including for colour-blind people. */
const COLOURS: Readonly<Record<SubjectName, string>> = {
  agent: '#2a8fd6',
  other: '#7b62c4',
  bare: '#8a8f98',
  addons: '#d98512',
};
const GOAL_COLOUR = '#d6457a';
const WIDTH = 720;
const LEFT = 110;
const RIGHT = 70;
const BAR = 16;
const GAP = 8;
const PANEL_GAP = 34;
const HEAD = 24;
const TEXT_WIDTH = 38;

/** A bar from zero to its middle value, with the lower and upper end of the spread. */
interface Bar {
  readonly label: string;
  readonly colour: string;
  readonly low: number;
  readonly middle: number;
  readonly high: number;
  readonly text: string;
}

interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** A goal and its label. */
  readonly goal: number;
  readonly goalText: string;
}

/** Draws costs and latencies with their goals as horizontal bars, for light and dark backgrounds. */
export function drawPlot(results: Results): string {
  const panels = panelsOf(results);
  let y = 10;
  const parts = panels.map((panel) => {
    const drawn = drawPanel(panel, y);
    y += HEAD + panel.bars.length * (BAR + GAP) + PANEL_GAP;
    return drawn;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" font-family="system-ui, sans-serif" font-size="13">
<title>CPU, memory and latencies of the agent and the bare loop</title>
<style>text { fill: #6a737d } @media (prefers-color-scheme: light) { text { fill: #24292f } } @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }</style>
<rect width="${WIDTH}" height="${y}" rx="6" fill="#808080" fill-opacity="0.08"/>
${parts.join('\n')}
</svg>
`;
}

function panelsOf({ rounds, subjects, load }: Results): Panel[] {
  const names = SUBJECTS.filter((name) => subjects.has(name));
  const cost = (pick: Parameters<typeof perRound>[2], digits: number): Bar[] =>
    names.map((name) => {
      const values = perRound(rounds, name, pick);
      const [low, middle, high] = [quantile(values, 0), median(values), quantile(values, 1)];
      return { label: TITLES[name], colour: COLOURS[name], low, middle, high, text: middle.toFixed(digits) };
    });
  const bareOf = (bars: readonly Bar[]): number => bars[names.indexOf('bare')]?.middle ?? 0;
  const state = typeof load === 'string' ? 'quiet' : 'loaded';
  const latency = (pick: 'captureToWire' | 'wireToSpeaker'): Bar[] =>
    names.flatMap((name) => {
      const spread = subjects.get(name)?.[pick][state] ?? null;
      if (spread === null) return [];
      const { p50, p99, max } = spread;
      return [
        {
          label: TITLES[name],
          colour: COLOURS[name],
          low: p50,
          middle: p99,
          high: max,
          text: p99.toFixed(1),
        },
      ];
    });
  const when = state === 'loaded' ? ' with the other cores busy' : '';
  const [cpu, rss] = [cost(({ cpu: { tree } }) => tree, 1), cost(({ rss: { tree } }) => tree, 0)];
  const latencyPanel = (title: string, bars: Bar[], goal: number): Panel => ({
    title: `${title}${when}, ms: p99, and p50 to maximum`,
    bars,
    goal,
    goalText: `goal ${goal}`,
  });
  return [
    {
      title: 'CPU, seconds per hour of audio (whole process tree)',
      bars: cpu,
      goal: bareOf(cpu) * GOALS.cpuRatio,
      goalText: `goal: ${GOALS.cpuRatio} × bare loop`,
    },
    {
      title: 'Resident memory, MB (whole process tree)',
      bars: rss,
      goal: bareOf(rss) + GOALS.rssOverMb,
      goalText: `goal: bare loop + ${GOALS.rssOverMb}`,
    },
    latencyPanel('Capture to wire', latency('captureToWire'), GOALS.captureToWireP99Ms),
    latencyPanel('Wire to speaker', latency('wireToSpeaker'), GOALS.wireToSpeakerP99Ms),
  ].filter(({ bars }) => bars.length > 0);
}

function drawPanel({ title, bars, goal, goalText }: Panel, top: number): string {
  const most = Math.max(
    goal * 1.15,
    ...bars.map(({ middle }) => middle),
    ...bars.map(({ high }) => Math.min(high, goal * 2)),
  );
  const x = (value: number): string =>
    (LEFT + (Math.min(value, most) / most) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const drawn = bars.map((bar, index) => {
    const y = top + HEAD + index * (BAR + GAP);
    const middleY = y + BAR / 2;
    const isBeyond = bar.high > most;
    const textX = Number(x(Math.max(bar.middle, bar.high))) + 6;
    const goalX = Number(x(goal));
    const isStruck = textX < goalX + 4 && textX + TEXT_WIDTH > goalX;
    return [
      `<text x="${LEFT - 8}" y="${y + BAR - 3}" text-anchor="end">${bar.label}</text>`,
      `<rect x="${LEFT}" y="${y}" width="${(Number(x(bar.middle)) - LEFT).toFixed(1)}" height="${BAR}" rx="2" fill="${bar.colour}"/>`,
      `<path d="M${x(bar.low)} ${middleY}H${x(bar.high)}M${x(bar.low)} ${middleY - 4}v8${isBeyond ? '' : `M${x(bar.high)} ${middleY - 4}v8`}" stroke="#808080" stroke-width="1.5" fill="none"/>`,
      `<text x="${(isStruck ? goalX + 6 : textX).toFixed(1)}" y="${y + BAR - 3}">${bar.text}</text>`,
    ].join('\n');
  });
  const bottom = top + HEAD + bars.length * (BAR + GAP);
  return [
    `<text x="12" y="${top + 13}" font-weight="600">${title}</text>`,
    ...drawn,
    `<path d="M${x(goal)} ${top + HEAD - 4}V${bottom}" stroke="${GOAL_COLOUR}" stroke-width="1.5" stroke-dasharray="5 3"/>`,
    `<text x="${x(goal)}" y="${bottom + 12}" text-anchor="middle" font-size="11">${goalText}</text>`,
  ].join('\n');
}
