import type { TwoWayMode } from '../../../protocol/config-desk.ts';
import type { EchoMode } from '../../../sound/echo-guard.ts';

/** Constants of a lane for its lifetime; all durations in milliseconds. */
export interface LaneSettings {
  /** Length of one chunk (docs/service.md 8: 320 ms recommended). */
  readonly chunkMs: number;
  /** PCM bytes per millisecond of the translated audio. */
  readonly playoutBytesPerMs: number;
  /** Whether the sound fades around gaps within a sentence; off for recordings. */
  readonly softEdges: boolean;
  /** Whether late sound is played a little faster; off for recordings. */
  readonly quickens: boolean;
  /** Maximum translated speech queued ahead of the newest sentence; beyond that the oldest sentence is dropped. */
  readonly playoutLagMs: number;
  /** Maximum captured audio held while there is no stream. */
  readonly backlogMs: number;
  /** How long sent speech is kept for a replay until it is spoken. The replay must also fit into the backlog. */
  readonly replayMs: number;
  /** How long translated speech waits for a failed loudspeaker. */
  readonly heldSoundMs: number;
  /** How long standby, and an operator's text, wait for the translation of earlier speech. */
  readonly answerMs: number;
  /** How long the room reverberates after the loudspeaker stops. */
  readonly echoTailMs: number;
  /** How long to wait for a token before the request is repeated under the same id. */
  readonly tokenAnswerMs: number;
  /** Age at which a token request gets a new id. */
  readonly tokenRequestLifeMs: number;
  /** Safety margin before the end of a token's connect window. */
  readonly connectMarginMs: number;
  /** Maximum time to open a connection: an upgrade takes up to 4 s. */
  readonly connectMs: number;
  /** Maximum time to open a connection in the first few consecutive attempts. */
  readonly firstConnectMs: number;
  /** Timeout from sending a task until it runs. */
  readonly setupMs: number;
  /** Delay from a stream's first task to the first poll. */
  readonly firstPollMs: number;
  /** Delay from a later task to the first poll: earlier ones are answered for the old task (4.7 rule 1: 2-3 s). */
  readonly reapplyMs: number;
  /** Interval of polls (docs/service.md 8: at most once per 2 s); also the minimum interval between two tasks. */
  readonly pollMs: number;
  readonly pingMs: number;
  /** How late a ping may be sent. */
  readonly pingSlackMs: number;
  /** Consecutive pings without an answer after which the connection counts as dead. */
  readonly pingsMissed: number;
  /** How long speech may go without any message of the service before the lane polls the task. */
  readonly silentAskMs: number;
  /** Timeout for the answer to the poll after silence. */
  readonly silentAnswerMs: number;
  /** How long speech may go without a result if the service has only answered the poll after silence. */
  readonly silentGoOnMs: number;
  /** Unsent bytes above which the connection counts as slower than speech: about two seconds of audio. */
  readonly congestedBytes: number;
  /** Time without progress in sending after which the connection counts as dead. */
  readonly stuckMs: number;
  /** How long the service may take to finish the task before the connection is cut. */
  readonly drainMs: number;
  /** How long before a session's limit the next session begins: set-up takes 2 to 7 s, and the switch then waits for a pause. */
  readonly rollLeadMs: number;
  /** How long before a session's limit the lane switches at the latest, so that the old session can finish speaking. */
  readonly rollLatestMs: number;
  /** How long an old session must be quiet to count as finished. */
  readonly oldSessionQuietMs: number;
  /** How long an old session must be quiet if it has spoken everything that it was sent. */
  readonly oldSessionDoneMs: number;
  /** Length of the audio that is kept from before a wake. */
  readonly prerollMs: number;
  /** How long a stream must be live to count as stable, which resets the failure count. */
  readonly stableMs: number;
}

export const LANE_DEFAULTS: Omit<LaneSettings, 'playoutBytesPerMs'> = {
  chunkMs: 320,
  softEdges: true,
  quickens: true,
  playoutLagMs: 20_000,
  backlogMs: 30_000,
  replayMs: 30_000,
  heldSoundMs: 30_000,
  answerMs: 30_000,
  echoTailMs: 300,
  tokenAnswerMs: 5000,
  tokenRequestLifeMs: 30_000,
  connectMarginMs: 3000,
  connectMs: 15_000,
  firstConnectMs: 6000,
  setupMs: 20_000,
  firstPollMs: 650,
  reapplyMs: 3000,
  pollMs: 2050,
  pingMs: 3000,
  pingSlackMs: 500,
  pingsMissed: 3,
  silentAskMs: 12_000,
  silentAnswerMs: 3000,
  silentGoOnMs: 30_000,
  congestedBytes: 128 * 1024,
  stuckMs: 9000,
  drainMs: 3000,
  rollLeadMs: 22_000,
  rollLatestMs: 6000,
  oldSessionQuietMs: 4500,
  oldSessionDoneMs: 1500,
  prerollMs: 3200,
  stableMs: 60_000,
};

export const TASK_KEYS = ['source', 'targets', 'voice'] as const;

/** The part of the options that is sent to the service. */
export type TaskOptions = Pick<LaneOptions, (typeof TASK_KEYS)[number]>;

/** The part of the operator's options that the service has refused. */
export interface RefusedTask {
  /** The values sent in place of the refused ones: the last that the service accepted. */
  readonly instead: Partial<TaskOptions>;
  /** The service's explanation. */
  readonly message: string;
}

/** The task to send: the operator's options, except those that the service has refused. */
export function taskOf(lane: {
  readonly options: LaneOptions;
  readonly refusedTask: RefusedTask | null;
}): TaskOptions {
  const { source, targets, voice } = lane.options;
  return { source, targets, voice, ...lane.refusedTask?.instead };
}

/** A person at the desk, by the language that they speak. */
export type Speaker = 'source' | 'target';

/** A task as the service gets it. */
export interface ServiceTask extends TaskOptions {
  /** `target`: source and target have changed places; `both`: either of the two may speak. */
  readonly speaker?: 'target' | 'both';
}

/** The operator's task that corresponds to a task sent to the service. */
export function orderOf({ source, targets, voice, speaker }: ServiceTask): TaskOptions {
  const [target] = targets;
  return speaker === 'target' && target !== undefined
    ? { source: target, targets: [source], voice }
    : { source, targets, voice };
}

/** The keys in which two tasks differ. */
export function differingKeys(one: TaskOptions, other: TaskOptions): (keyof TaskOptions)[] {
  const differs = (key: keyof TaskOptions): boolean =>
    JSON.stringify(one[key]) !== JSON.stringify(other[key]);
  return TASK_KEYS.filter((key) => one[key] !== other[key] && differs(key));
}

/** Whether two tasks are the same for the service. */
export function isSameTask(one: ServiceTask, other: ServiceTask): boolean {
  return one.speaker === other.speaker && differingKeys(one, other).length === 0;
}

/** Options that an operator may change while the lane runs. */
export interface LaneOptions {
  readonly source: string;
  readonly targets: readonly string[];
  readonly voice: string | null;
  readonly echo: EchoMode;
  /** Muted by the owner, until `unmute`. */
  readonly muted: boolean;
  /** Muted from the desk, until the end of the conversation. Missing: not muted. */
  readonly mutedAtDesk?: boolean;
  /** Volume of the loudspeaker, 0-100. */
  readonly volume: number;
  /** Reaction to a visitor who speaks over the translation: turn it down, or end it. */
  readonly bargeIn: 'duck' | 'flush';
  /** Whether short chimes report what happens to the lane. */
  readonly earcons: boolean;
  /** The trigger of the first session. */
  readonly start: 'boot' | 'command' | 'voice';
  /** Time without speech after which the stream is closed until a voice is heard; 0: never. */
  readonly standbyAfterMs: number;
  /** How one stream serves both directions between the source and the single target; missing: one direction only. */
  readonly twoWay?: TwoWayMode;
  /** Whether the microphone of a one-way lane is open only while a key is held; missing: it is always open. */
  readonly pushToTalk?: boolean;
}

/** Whether the microphone is muted, by the owner or from the desk. */
export const isMuted = ({ muted, mutedAtDesk = false }: LaneOptions): boolean => muted || mutedAtDesk;
