import type { TwoWayMode } from '../../../protocol/config-desk.ts';
import { primaryOf } from '../replay/language-tags.ts';
import { type ServiceTask, type Speaker, taskOf } from '../state/lane-options.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { LiveStream } from '../state/session-state.ts';
import type { TwoWay } from '../state/state-parts.ts';
import { PAUSE_KEPT_CHUNKS } from '../uplink/backlog.ts';

/** Two people at one microphone: who speaks, and in which direction the service translates. */

type Options = Pick<LaneState, 'options' | 'refusedTask' | 'twoWay'>;
type Lane = Options & Pick<LaneState, 'backlog'>;

/** The two-way mode in force. */
export function twoWayIn(lane: Options): TwoWayMode {
  const { twoWay: mode = 'off' } = lane.options;
  if (mode === 'off' || taskOf(lane).targets.length !== 1) return 'off';
  return mode === 'auto' && lane.twoWay.isRefused ? 'button' : mode;
}

/** Whether a key says who speaks. */
export function turnsByKey(lane: Options): boolean {
  const mode = twoWayIn(lane);
  return mode === 'button' || mode === 'hold';
}

/** Whether the microphone is open only while a key is held. */
export function opensByKey(lane: Options): boolean {
  const { pushToTalk = false, twoWay = 'off' } = lane.options;
  return twoWayIn(lane) === 'hold' || (pushToTalk && twoWay === 'off');
}

/** The languages that the lane speaks, and whether each sentence is spoken in only one of them. */
export function spokenLanguages(lane: Options): {
  readonly targets: readonly string[];
  readonly either: boolean;
} {
  const { source, targets } = taskOf(lane);
  return twoWayIn(lane) === 'off'
    ? { targets, either: false }
    : { targets: [...targets, source], either: true };
}

/** The task for the service, in the direction of the oldest held speech, otherwise of the current speaker. */
export function serviceTaskOf(lane: Lane): ServiceTask {
  const task = taskOf(lane);
  const mode = twoWayIn(lane);
  if (mode === 'off') return task;
  if (mode === 'auto') return { ...task, speaker: 'both' };
  const [target] = task.targets;
  return speakerWanted(lane) === 'source' || target === undefined
    ? task
    : { ...task, source: target, targets: [task.source], speaker: 'target' };
}

function speakerWanted({ backlog, twoWay }: Lane): Speaker {
  const word = backlog.chunks.find(({ pcm, voiced }) => pcm !== null && voiced);
  return word?.speaker ?? twoWay.speaker;
}

const speakerOf = ({ speaker }: ServiceTask): Speaker => (speaker === 'target' ? 'target' : 'source');

/** Whether the oldest held chunk must wait until the service translates in its direction. */
export function waitsForTurn(lane: Lane, { confirmedTask }: LiveStream): boolean {
  if (!turnsByKey(lane)) return false;
  const wanted = speakerWanted(lane);
  const [head] = lane.backlog.chunks;
  return wanted !== speakerOf(confirmedTask) && (head === undefined || (head.speaker ?? wanted) === wanted);
}

/** Silence (chunks, 2.56 s) after which a partial that is still open no longer delays a turn. */
const LONG_PAUSE_CHUNKS = 8;

/**
 * Whether the previous speaker's sentence is over. If the direction changed before that, the service would translate the rest
 * of it the wrong way.
 */
export function isSentenceOver({ backlog }: Lane, { replay }: LiveStream): boolean {
  return backlog.quietRun >= (replay.partial === null ? PAUSE_KEPT_CHUNKS : LONG_PAUSE_CHUNKS);
}

const MOST_HEARD = 16;

/** Notes the language in which a sentence was heard. */
export function noteHeardIn(twoWay: TwoWay, id: string | null, language: string): TwoWay {
  if (id === null || language === '') return twoWay;
  const known = twoWay.heardIn.find((one) => one.id === id);
  if (known?.language === language) return twoWay;
  const others = twoWay.heardIn.filter((one) => one !== known);
  return { ...twoWay, heardIn: [...others, { id, language }].slice(-MOST_HEARD) };
}

/** Whether the service speaks a sentence in the language in which it was said: its speaker needs no translation. */
export function isSaidBack(lane: Options, id: string | null, language: string | null): boolean {
  if (id === null || language === null || twoWayIn(lane) !== 'auto') return false;
  const heard = lane.twoWay.heardIn.find((one) => one.id === id);
  return heard !== undefined && primaryOf(heard.language) === primaryOf(language);
}

/** When speech may be played: while a held key keeps the microphone open, speech waits. */
export function playsFrom(lane: Options, now: number): number {
  return opensByKey(lane) ? Math.max(now, lane.twoWay.openUntil) : now;
}
