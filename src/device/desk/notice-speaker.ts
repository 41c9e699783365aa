import type { Clock } from '../../ports/clock.ts';
import type { Config } from '../../protocol/config.ts';
import { CommandError } from '../commands/command-request.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import type { Notice } from '../lane/state/lane-conversation.ts';
import { maySpeakNotice } from '../say/notice-rules.ts';
import type { TextSpeaker } from '../say/text-speaker.ts';

const LOOK_EACH_MS = 500;
/** Error codes from a service that does not speak texts. */
const NEVER: readonly string[] = ['rejected', 'unsupported'];

export interface NoticeSpeakerDeps {
  readonly clock: Clock;
  readonly says: Pick<TextSpeaker, 'say'>;
  config(): Config;
}

/** Speaks the notice of a conversation, in the first pause of all its lanes. The screen shows it anyway. */
export interface NoticeSpeaker {
  /** Queues a notice in place of an earlier one. Each language is spoken once in a conversation. */
  want(lane: LaneRunner, desk: readonly LaneRunner[], notice: Notice): void;
  /** The conversation of this desk has ended. */
  end(desk: readonly LaneRunner[]): void;
  close(): void;
}

interface Waiting {
  readonly lane: LaneRunner;
  readonly desk: readonly LaneRunner[];
  readonly notice: Notice;
}

export function createNoticeSpeaker({ clock, says, config }: NoticeSpeakerDeps): NoticeSpeaker {
  let waiting: readonly Waiting[] = [];
  /** Lanes whose service does not speak texts: they are not asked again. */
  const silent = new Set<string>();
  /** Languages in which each lane has spoken the notice. */
  const spokenLanguages = new Map<string, readonly string[]>();
  let cancel = (): void => {};

  /** A recording has no listeners. */
  const isHeard = ({ id }: LaneRunner): boolean =>
    config().lanes.find((lane) => lane.id === id)?.playback.driver !== 'file';

  const isGoodMoment = ({ lane, desk }: Waiting): boolean => {
    const states = desk.map(({ state }) => state);
    return maySpeakNotice(lane.state, states, clock.now());
  };

  const speak = (waited: Waiting): void => {
    const { lane, desk, notice } = waited;
    spokenLanguages.set(lane.id, [...(spokenLanguages.get(lane.id) ?? []), notice.language]);
    const refused = (error: unknown): void => {
      if (!(error instanceof CommandError)) throw error;
      if (NEVER.includes(error.code)) silent.add(lane.id);
    };
    try {
      const speech = { ...notice, translate: false, desk: desk.map(({ id }) => id) };
      says.say([lane], speech).catch(refused);
    } catch (error) {
      refused(error);
    }
  };

  const look = (): void => {
    cancel();
    const due = waiting.find(isGoodMoment);
    if (due !== undefined) {
      waiting = waiting.filter((one) => one !== due);
      speak(due);
    }
    if (waiting.length > 0) cancel = clock.at(clock.now() + LOOK_EACH_MS, look);
  };

  return {
    want(lane, desk, notice) {
      waiting = waiting.filter((one) => one.lane !== lane);
      const isSpoken = spokenLanguages.get(lane.id)?.includes(notice.language) === true;
      if (!isSpoken && isHeard(lane) && !silent.has(lane.id)) waiting = [...waiting, { lane, desk, notice }];
      // Runs after the command of the same key press, so that the person who takes the turn speaks first.
      cancel();
      if (waiting.length > 0) cancel = clock.at(clock.now(), look);
    },
    end(desk) {
      waiting = waiting.filter(({ lane }) => !desk.includes(lane));
      for (const { id } of desk) spokenLanguages.delete(id);
    },
    close() {
      cancel();
      waiting = [];
    },
  };
}
