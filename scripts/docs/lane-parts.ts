/** The generated parts of docs/lane.md. */

import { PATIENCE, RECOVERY } from '../../src/device/lane/session/recovery.ts';
import { LANE_DEFAULTS } from '../../src/device/lane/state/lane-options.ts';
import { CAUSES } from '../../src/protocol/mqtt/causes.ts';
import { PHASE_NAMES, PHASES, type Phase } from '../../src/protocol/phases.ts';
import { keysOf } from './table.ts';

type Parts = Readonly<Record<string, () => string>>;

export const LANE_PARTS: Parts = {
  'lane-phases': lanePhases,
  recovery: recoveryTable,
  'lane-states': laneStates,
  'lane-limits': laneLimits,
};

/** How long speech is kept, from the lane's settings. */
function laneLimits(): string {
  const { backlogMs, replayMs, heldSoundMs } = LANE_DEFAULTS;
  const [backlog, replay, held] = [backlogMs, replayMs, heldSoundMs].map((ms) => `${ms / 1000} s`);
  return [
    `The lane holds ${backlog} of captured speech without a stream, keeps ${replay} of sent`,
    `speech until it is spoken, and holds translated speech for ${held} without a`,
    'loudspeaker. Older speech is dropped and reported.',
  ].join('\n');
}

/** Phases drawn as one box, because they share most successors. */
const GROUPS: Readonly<Record<string, { readonly says: string; readonly phases: readonly Phase[] }>> = {
  setup: { says: 'session setup', phases: ['acquiring', 'connecting', 'configuring'] },
  streaming: { says: 'streaming', phases: ['live', 'rolling'] },
};
/** Phases that are not drawn, because every phase leads to them; the text of the page mentions them. */
const NOT_DRAWN: readonly Phase[] = ['restarting', 'closed'];
/** Labels of the arrows. */
const LABELS: Readonly<Record<string, string>> = {
  'idle --> acquiring': 'start',
  'idle --> standby': 'start by voice',
  'standby --> acquiring': 'voice',
  'acquiring --> connecting': 'token',
  'connecting --> configuring': 'open',
  'configuring --> live': 'task runs',
  'live --> rolling': 'limit is near',
  'rolling --> live': 'switched',
  'live --> standby': 'no speech',
  'live --> configuring': 'new task',
  'rolling --> setup': 'old stream broke',
  'setup --> waiting': 'failed',
  'setup --> parked': 'refused',
  'live --> waiting': 'stream broke',
  'live --> parked': 'refused',
  'waiting --> acquiring': 'retry',
  'waiting --> connecting': 'same token, or a late one',
  'parked --> acquiring': 'minutes later',
  'parked --> connecting': 'late token',
  'streaming --> draining': 'stop',
  'configuring --> draining': 'stop',
  'setup --> idle': 'stop',
  'draining --> idle': 'all spoken',
  'standby --> idle': 'stop',
  'waiting --> idle': 'stop',
  'parked --> idle': 'stop',
};

/** A Mermaid state diagram with as few arrows as possible. */
function laneStates(): string {
  const drawn = PHASE_NAMES.filter((phase) => !NOT_DRAWN.includes(phase));
  const edges = drawn.flatMap((from) =>
    PHASES[from].to.flatMap((to) =>
      NOT_DRAWN.includes(to) ? [] : [{ from: from as string, to: to as string }],
    ),
  );
  const arrows = Object.entries(GROUPS)
    .reduce((all, [name, { phases }]) => gather(all, name, phases), edges)
    .map(({ from, to }) => {
      const label = LABELS[`${from} --> ${to}`];
      if (label === undefined)
        throw new Error(`scripts/docs/lane-parts.ts: add a label for the arrow from ${from} to ${to}`);
      return `    ${from} --> ${to}: ${label}`;
    });
  const groups = Object.entries(GROUPS).flatMap(([name, { says, phases }]) => [
    `    state "${says}" as ${name} {`,
    ...phases.map((phase) => `        ${phase}`),
    '    }',
  ]);
  return ['```mermaid', 'stateDiagram-v2', ...groups, '    [*] --> idle', ...arrows, '```'].join('\n');
}

interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Replaces arrows that all members of a group share by one arrow of the group. */
function gather(edges: readonly Edge[], name: string, members: readonly string[]): Edge[] {
  const has = (from: string, to: string): boolean =>
    edges.some((edge) => edge.from === from && edge.to === to);
  const shared = ({ from, to }: Edge): Edge => {
    if (members.includes(from) && !members.includes(to) && members.every((member) => has(member, to)))
      return { from: name, to };
    if (members.includes(to) && !members.includes(from) && members.every((member) => has(from, member)))
      return { from, to: name };
    return { from, to };
  };
  const kept = new Map(edges.map(shared).map((edge) => [`${edge.from} ${edge.to}`, edge]));
  return [...kept.values()];
}

function lanePhases(): string {
  const rows = PHASE_NAMES.map((name) => {
    const next = PHASES[name].to.map((to) => `\`${to}\``).join(' ');
    return `| \`${name}\` | ${PHASES[name].says} | ${next} |`;
  });
  return ['| phase | the lane | can be followed by |', '|---|---|---|', ...rows].join('\n');
}

function recoveryTable(): string {
  const seconds = (ms: number): string => `${ms / 1000} s`;
  const waits = {
    prompt: `up to ${seconds(PATIENCE.prompt.baseMs)}, doubling to ${seconds(PATIENCE.prompt.capMs)}`,
    patient: `up to ${seconds(PATIENCE.patient.baseMs)}, doubling to ${seconds(PATIENCE.patient.capMs)}`,
    parked: `${seconds(PATIENCE.parked.floorMs)} to ${seconds(PATIENCE.parked.floorMs + PATIENCE.parked.capMs)}`,
  };
  const rows = keysOf(RECOVERY).map((cause) => {
    const { patience, promptTries } = RECOVERY[cause];
    const { means } = CAUSES[cause];
    return promptTries === undefined
      ? `| \`${cause}\` | ${means} | ${patience} | ${waits[patience]} |`
      : `| \`${cause}\` | ${means} | ${patience} after ${promptTries} prompt try | ${waits.prompt}; then ${waits[patience]} |`;
  });
  return ['| cause | what happened | cadence | next try after |', '|---|---|---|---|', ...rows].join('\n');
}
