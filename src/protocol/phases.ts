/** The states of a lane. The diagram in docs/lane.md is generated from this table. */
export const PHASES = {
  idle: {
    says: 'stopped: no microphone, no stream',
    to: ['acquiring', 'standby', 'closed', 'restarting'],
  },
  standby: {
    says: 'no speech: no stream and no cost; a voice wakes the lane, and its first words are kept',
    to: ['acquiring', 'idle', 'closed', 'restarting'],
  },
  acquiring: {
    says: 'requests a token from the backend; audio is held',
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
    says: 'streams audio in real time; catches up with held audio by trimming pauses',
    to: ['rolling', 'configuring', 'standby', 'waiting', 'parked', 'draining', 'restarting'],
  },
  rolling: {
    says: 'still live while the next session is set up; switches to it in a pause',
    to: ['live', 'acquiring', 'connecting', 'configuring', 'draining', 'restarting'],
  },
  draining: { says: 'has asked the service to end and lets it finish', to: ['idle', 'closed', 'restarting'] },
  waiting: {
    says: 'the session ended or an attempt failed: waits, with jitter, before the next; a voice shortens the wait',
    to: ['acquiring', 'connecting', 'idle', 'closed', 'restarting'],
  },
  parked: {
    says: 'refused, and needs manual action; retries every few minutes',
    to: ['acquiring', 'connecting', 'idle', 'closed', 'restarting'],
  },
  restarting: {
    says: 'a defect of the program: no microphone, no stream; the lane restarts after a wait',
    to: ['acquiring', 'standby', 'idle', 'closed'],
  },
  closed: { says: 'the agent is shutting down', to: [] },
} as const satisfies Record<string, { says: string; to: readonly string[] }>;

export type Phase = keyof typeof PHASES;

export const PHASE_NAMES = Object.keys(PHASES) as readonly Phase[];

/** Whether the table allows this transition. */
export function isTransition(from: Phase, to: Phase): boolean {
  const targets: readonly string[] = PHASES[from].to;
  return targets.includes(to);
}

const DEAF: readonly Phase[] = ['idle', 'draining', 'restarting', 'closed'];

/** Whether the microphone is open: speech is sent, or held for the next stream. */
export function isListening(phase: Phase): boolean {
  return !DEAF.includes(phase);
}
