import type { EchoMode } from '../uplink/gate.ts';

/** Constants of a lane for its lifetime; all durations in milliseconds. */
export interface LaneSettings {
  /** Length of one chunk (docs/service.md 8: 320 ms recommended). */
  readonly chunkMs: number;
  /** PCM bytes per millisecond of the translated audio. */
  readonly playoutBytesPerMs: number;
  /** Gaps within a sentence get soft edges: for ears, not for recordings. */
  readonly softEdges: boolean;
  /** Sound that lags runs a little faster: for ears, not for recordings. */
  readonly quickens: boolean;
  /** This much translated speech may wait between what sounds and the newest sentence; then the oldest sentence goes. */
  readonly playoutLagMs: number;
  /** How much captured audio is held while there is no stream. */
  readonly backlogMs: number;
  /** How long sent speech is kept until it is spoken: what is older is not sent again. */
  readonly replayMs: number;
  /** How long translated speech waits for a loudspeaker that is away. */
  readonly heldSoundMs: number;
  /** How long the lane waits for the translation of speech before it sleeps, or speaks an operator's text. */
  readonly answerMs: number;
  /** How long the room still sounds after the loudspeaker stops. */
  readonly echoTailMs: number;
  /** How long to wait for a token before asking again under the same id. */
  readonly tokenAnswerMs: number;
  /** A token request older than this starts again under another id. */
  readonly tokenRequestLifeMs: number;
  /** Kept off the end of a token's connect window. */
  readonly connectMarginMs: number;
  /** From opening the connection to its being open, at most: an upgrade takes up to 4 s. */
  readonly connectMs: number;
  /** The same for the first tries in a row. */
  readonly firstConnectMs: number;
  /** From a task that is sent to a task that runs. */
  readonly setupMs: number;
  /** From the first task of a stream to the first question whether it runs. */
  readonly firstPollMs: number;
  /** From a later task to the first question whether it runs: the old task answers until the new one is applied (4.7 rule 1: 2-3 s). */
  readonly reapplyMs: number;
  /** Between two questions (docs/service.md 8: at most once per 2 s); also between two tasks. */
  readonly pollMs: number;
  readonly pingMs: number;
  /** A ping may be this much later. */
  readonly pingSlackMs: number;
  /** This many pings in a row without an answer mean that nobody is there. */
  readonly pingsMissed: number;
  /** Speech that got no message of any kind for this long makes the lane ask for the task. */
  readonly silentAskMs: number;
  /** No answer to that for this long: nobody works there. */
  readonly silentAnswerMs: number;
  /** A stream that has answered that, and nothing else, goes on for this long with what is said next. */
  readonly silentGoOnMs: number;
  /** This many bytes that have not left this machine mean that the way is slower than speech: about two seconds of it. */
  readonly congestedBytes: number;
  /** Nothing has left for this long: nobody takes it. */
  readonly stuckMs: number;
  /** How long the service may take to end before the connection is cut. */
  readonly drainMs: number;
  /** How long before a session's limit the next one is begun: set-up takes 2 to 7 s, and then a pause has to come. */
  readonly rollLeadMs: number;
  /** A switch to the next session happens this long before the limit at the latest, so that the old one can finish speaking. */
  readonly rollLatestMs: number;
  /** A stream that has said nothing for this long has nothing more to say. */
  readonly oldSessionQuietMs: number;
  /** The same, where everything that it was sent has been spoken. */
  readonly oldSessionDoneMs: number;
  /** How much of what was heard before a voice woke the lane is kept. */
  readonly prerollMs: number;
  /** A stream that has been live this long has proven itself: the failure count starts over. */
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

/** The part of the options that the service is told. */
export type TaskOptions = Pick<LaneOptions, (typeof TASK_KEYS)[number]>;

/** What of the operator's options the service has not taken. */
export interface RefusedTask {
  /** What it is told in place of each of them: what it took last. */
  readonly instead: Partial<TaskOptions>;
  /** Why, in its own words. */
  readonly message: string;
}

/** What the service is told: what the operator has ordered, but for what it has refused. */
export function taskOf(lane: {
  readonly options: LaneOptions;
  readonly refusedTask: RefusedTask | null;
}): TaskOptions {
  const { source, targets, voice } = lane.options;
  return { source, targets, voice, ...lane.refusedTask?.instead };
}

/** The keys in which two tasks differ. */
export function differingKeys(one: TaskOptions, other: TaskOptions): (keyof TaskOptions)[] {
  const differs = (key: keyof TaskOptions): boolean =>
    JSON.stringify(one[key]) !== JSON.stringify(other[key]);
  return TASK_KEYS.filter((key) => one[key] !== other[key] && differs(key));
}

/** Whether two options tell the service the same. */
export function isSameTask(one: TaskOptions, other: TaskOptions): boolean {
  return differingKeys(one, other).length === 0;
}

/** What an operator may change while the lane runs. */
export interface LaneOptions {
  readonly source: string;
  readonly targets: readonly string[];
  readonly voice: string | null;
  readonly echo: EchoMode;
  readonly muted: boolean;
  /** Of the loudspeaker, 0-100. */
  readonly volume: number;
  /** Somebody speaks over the translation: it is turned down, or ended. */
  readonly bargeIn: 'duck' | 'flush';
  /** Short chimes tell what happens to the lane. */
  readonly earcons: boolean;
  /** What begins a session. */
  readonly start: 'boot' | 'command' | 'voice';
  /** This long without speech, and the stream is given up until somebody speaks; 0: never. */
  readonly standbyAfterMs: number;
}
