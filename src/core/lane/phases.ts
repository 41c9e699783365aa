/** The states of a lane. The diagram of docs/lane.md is drawn from this table. */
export const PHASES = {
  idle: {
    says: 'not wanted: no microphone, no stream',
    to: ['acquiring', 'standby', 'closed', 'restarting'],
  },
  standby: {
    says: 'nobody speaks: no stream and no cost; a voice wakes the lane, its first words included',
    to: ['acquiring', 'idle', 'closed', 'restarting'],
  },
  acquiring: {
    says: 'asks the backend for a token; audio is held',
    to: ['connecting', 'waiting', 'parked', 'idle', 'closed', 'restarting'],
  },
  connecting: {
    says: 'opens the stream with the token',
    to: ['configuring', 'waiting', 'parked', 'idle', 'closed', 'restarting'],
  },
  configuring: {
    says: 'has sent the task and asks until it runs',
    to: ['live', 'waiting', 'parked', 'draining', 'idle', 'closed', 'restarting'],
  },
  live: {
    says: 'streams audio at real time; takes held audio in by trimming pauses',
    to: ['rolling', 'configuring', 'standby', 'waiting', 'parked', 'draining', 'restarting'],
  },
  rolling: {
    says: 'live still, while the next session is made ready; switches in a pause of speech',
    to: ['live', 'acquiring', 'connecting', 'configuring', 'draining', 'restarting'],
  },
  draining: { says: 'has asked the service to end and lets it finish', to: ['idle', 'closed', 'restarting'] },
  waiting: {
    says: 'the session ended or a try failed: waits, with jitter, before the next; a voice shortens the wait',
    to: ['acquiring', 'connecting', 'idle', 'closed', 'restarting'],
  },
  parked: {
    says: 'refused until somebody fixes it; asks again at a slow cadence',
    to: ['acquiring', 'idle', 'closed', 'restarting'],
  },
  restarting: {
    says: 'a defect of the program ended a step: no microphone, no stream; everything begins again after a wait',
    to: ['acquiring', 'standby', 'idle', 'closed'],
  },
  closed: { says: 'the agent is ending', to: [] },
} as const satisfies Record<string, { says: string; to: readonly string[] }>;

export type Phase = keyof typeof PHASES;

/** Every phase, in the table's order. */
export const PHASE_NAMES = Object.keys(PHASES) as readonly Phase[];

/** Whether the table allows this step. */
export function isTransition(from: Phase, to: Phase): boolean {
  const targets: readonly string[] = PHASES[from].to;
  return targets.includes(to);
}

const DEAF: readonly Phase[] = ['idle', 'draining', 'restarting', 'closed'];

/** Whether the microphone is open, because what is said matters: it is sent, or held for the next stream. */
export function isListening(phase: Phase): boolean {
  return !DEAF.includes(phase);
}
