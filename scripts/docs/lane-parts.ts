/** The generated parts of docs/lane.md. */
import { PHASE_NAMES, PHASES } from '../../src/core/lane/phases.ts';
import { PATIENCE, RECOVERY } from '../../src/core/retry/recovery.ts';

type Parts = Readonly<Record<string, () => string>>;

export const LANE_PARTS: Parts = {
  'lane-phases': lanePhases,
  recovery: recoveryTable,
  'lane-states': laneStates,
};

/** A state diagram that code hosts render. */
function laneStates(): string {
  const transitions = PHASE_NAMES.flatMap((from) => PHASES[from].to.map((to) => `    ${from} --> ${to}`));
  return [
    '```mermaid',
    'stateDiagram-v2',
    '    [*] --> idle',
    ...transitions,
    '    closed --> [*]',
    '```',
  ].join('\n');
}

function lanePhases(): string {
  return [
    '| state | the lane |',
    '|---|---|',
    ...PHASE_NAMES.map((name) => `| ${name} | ${PHASES[name].says} |`),
  ].join('\n');
}

function recoveryTable(): string {
  const seconds = (ms: number): string => `${ms / 1000} s`;
  const waits = {
    prompt: `up to ${seconds(PATIENCE.prompt.baseMs)}, doubling to ${seconds(PATIENCE.prompt.capMs)}`,
    patient: `up to ${seconds(PATIENCE.patient.baseMs)}, doubling to ${seconds(PATIENCE.patient.capMs)}`,
    parked: `${seconds(PATIENCE.parked.floorMs)} to ${seconds(PATIENCE.parked.floorMs + PATIENCE.parked.capMs)}`,
  };
  const rows = Object.entries(RECOVERY).map(([cause, { meaning, patience, promptTries }]) =>
    promptTries === undefined
      ? `| \`${cause}\` | ${meaning} | ${patience} | ${waits[patience]} |`
      : `| \`${cause}\` | ${meaning} | ${patience} after ${promptTries} prompt try | ${waits.prompt}; then ${waits[patience]} |`,
  );
  return ['| cause | what happened | cadence | next try after |', '|---|---|---|---|', ...rows].join('\n');
}
