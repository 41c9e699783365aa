import type { Clock } from '../../ports/clock.ts';
import type { Config, LaneConfig } from '../../protocol/config.ts';
import type { EventKind } from '../../protocol/mqtt/event.ts';
import { billedMs } from '../lane/lane-report.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import type { Notice } from '../lane/state/lane-conversation.ts';
import { taskOf } from '../lane/state/lane-options.ts';
import type { TextSpeaker } from '../say/text-speaker.ts';
import {
  type BegunBy,
  beginConversation,
  type Conversation,
  noteActivity,
  summarize,
} from './conversation.ts';
import { deskOffer } from './desk-offer.ts';
import { endsAt, follow, isFirstWord, isRunning, isSpoken, warnsBefore } from './desk-rules.ts';
import { noticeIn } from './notice.ts';
import { createNoticeSpeaker } from './notice-speaker.ts';
import { type Beginning, restoration, type Setting } from './restoration.ts';
import { visitorLanguage } from './visitor-language.ts';

export interface ConversationsDeps {
  readonly clock: Clock;
  /** Lanes at one desk have their conversations together. */
  desks(): readonly (readonly LaneRunner[])[];
  readonly says: Pick<TextSpeaker, 'say' | 'dropTyped'>;
  config(): Config;
  watch(listener: (step: LaneStep) => void): () => void;
  tell(kind: EventKind, detail: Readonly<Record<string, unknown>>): void;
}

/** Runs the conversations at the device's desks: their beginning, their end, and the effects of both. */
export interface Conversations {
  /** Begins a conversation at the desks of these lanes, or continues the present one. Ignores lanes that are not running. */
  begin(lanes: readonly LaneRunner[], by: Exclude<BegunBy, 'voice'>): void;
  end(lanes: readonly LaneRunner[]): void;
  /** A lane was added or removed. */
  lanesChanged(): void;
  close(): void;
}

interface Desk {
  readonly lanes: readonly LaneRunner[];
  talk: Conversation | null;
  /** The lane at which the conversation began. */
  lane: string;
  beginnings: ReadonlyMap<string, Beginning>;
  /** The notice that was last given to each lane. */
  readonly informed: Map<string, Notice | null>;
  /** When the conversation ends by silence; null: the people have not been asked whether they are still there. */
  endingAt: number | null;
  /** When the last conversation ended: speech from before that time does not begin another one. Null: no conversation yet. */
  endedAt: number | null;
  cancel(): void;
}

export function createConversations(deps: ConversationsDeps): Conversations {
  const { clock, config, tell } = deps;
  let desks = deps.desks().map(createDesk);
  const notices = createNoticeSpeaker(deps);
  const configOf = ({ id }: LaneRunner): LaneConfig | undefined =>
    config().lanes.find((one) => one.id === id);
  const offerOf = (id: string): readonly string[] => config().lanes.find((one) => one.id === id)?.offer ?? [];
  const billed = (desk: Desk): number =>
    desk.lanes.reduce((sum, { state }) => sum + billedMs(state, clock.now()), 0);
  const stateOf = (lane: LaneRunner): Beginning => ({
    setting: settingOf(lane),
    configured: configuredSetting(configOf(lane)) ?? settingOf(lane),
  });

  /** Reports the conversation to the lane, and gives the notice in the visitor's present language. */
  const inform = (desk: Desk, lane: LaneRunner, startedAt: number): void => {
    const { notice: wanted } = config().conversation;
    const language = deskOffer(desk.lanes, offerOf)?.language ?? visitorLanguage(taskOf(lane.state), []);
    const notice = wanted === false ? null : noticeIn(language, wanted === true ? {} : wanted);
    const known = desk.informed.get(lane.id);
    if (known !== undefined && known?.text === notice?.text) return;
    desk.informed.set(lane.id, notice);
    lane.post({
      type: 'conversation',
      conversation: { startedAt, notice, endingAt: desk.endingAt },
    });
    const hears = ({ state }: LaneRunner): boolean => taskOf(state).targets.includes(language);
    // In a room the notice is spoken to the visitor, not to the clerk.
    const isTheirs = hears(lane) || !desk.lanes.some(hears);
    if (notice !== null && isTheirs) notices.want(lane, desk.lanes, notice);
  };

  /** A person is present: start the session before they speak. */
  const wake = (desk: Desk): void => {
    for (const lane of desk.lanes) if (lane.phase === 'standby') lane.post({ type: 'start' });
  };

  /** Asks whether the people are still there, or withdraws the question. */
  const warn = (desk: Desk, endingAt: number | null): void => {
    if (desk.endingAt === endingAt) return;
    const isFirst = desk.endingAt === null;
    desk.endingAt = endingAt;
    for (const lane of desk.lanes) {
      const { conversation } = lane.state;
      if (conversation !== null)
        lane.post({ type: 'conversation', conversation: { ...conversation, endingAt } });
      if (isFirst && lane.id === desk.lane && lane.state.options.earcons)
        lane.post({ type: 'chime', earcon: 'still_there' });
    }
  };

  const start = (desk: Desk, lane: LaneRunner, by: BegunBy): void => {
    const now = clock.now();
    desk.talk = beginConversation(by, now, billed(desk));
    desk.lane = lane.id;
    desk.beginnings = new Map(desk.lanes.map((one) => [one.id, stateOf(one)]));
    tell('conversation_started', { lane: lane.id, by });
    for (const one of desk.lanes) inform(desk, one, now);
    if (by !== 'voice') wake(desk);
    look(desk);
  };

  const finish = (desk: Desk): void => {
    const { talk, beginnings } = desk;
    if (talk === null) return;
    const now = clock.now();
    desk.talk = null;
    desk.endingAt = null;
    desk.endedAt = now;
    desk.informed.clear();
    desk.cancel();
    notices.end(desk.lanes);
    deps.says.dropTyped(desk.lanes);
    tell('conversation_ended', { lane: desk.lane, ...summarize(talk, now, billed(desk)) });
    for (const lane of desk.lanes) {
      lane.post({ type: 'conversation', conversation: null });
      const before = beginnings.get(lane.id);
      const options = {
        ...(before === undefined ? {} : restoration(before, stateOf(lane))),
        ...(lane.state.options.mutedAtDesk === true ? { mutedAtDesk: false } : {}),
      };
      if (Object.keys(options).length > 0) lane.post({ type: 'options', options });
    }
  };

  /** Ends the conversation if it is over, or warns that it will be; otherwise checks again when it may be. */
  const look = (desk: Desk): void => {
    desk.cancel();
    if (desk.talk === null) return;
    const { endAfter, warnBefore } = config().conversation;
    const states = desk.lanes.map(({ state }) => state);
    // The chime of the warning counts as heard sound; it must not put off the end.
    const at = desk.endingAt ?? endsAt(desk.talk, states, endAfter * 1000, clock.now());
    if (at === null || at <= clock.now()) return finish(desk);
    const warnsAt = at - warnsBefore(endAfter * 1000, warnBefore * 1000);
    const next = clock.now() < warnsAt ? warnsAt : at;
    desk.cancel = clock.at(next, () => look(desk));
    if (next === at && warnBefore > 0) warn(desk, at);
  };

  /** Somebody is still there. */
  const goOn = (desk: Desk): void => {
    if (desk.endingAt === null) return;
    warn(desk, null);
    look(desk);
  };

  const onStep = (step: LaneStep): void => {
    const desk = desks.find(({ lanes }) => lanes.some(({ id }) => id === step.lane));
    const lane = desk?.lanes.find(({ id }) => id === step.lane);
    if (desk === undefined || lane === undefined) return;
    if (desk.talk === null && isFirstWord(step, desk.endedAt)) start(desk, lane, 'voice');
    if (desk.talk === null) return;
    const talk = desk.talk;
    desk.talk = follow(talk, step, clock.now());
    if (desk.talk.activeAt !== talk.activeAt || isSpoken(step)) goOn(desk);
    if (step.before.options !== step.after.options) inform(desk, lane, desk.talk.startedAt);
    if (!desk.lanes.some(({ state }) => isRunning(state))) finish(desk);
  };
  const unwatch = deps.watch(onStep);

  const desksOf = (lanes: readonly LaneRunner[]): readonly Desk[] =>
    desks.filter((desk) => desk.lanes.some((lane) => lanes.includes(lane)));

  return {
    begin(lanes, by) {
      for (const desk of desksOf(lanes)) {
        const lane = desk.lanes.find((one) => lanes.includes(one) && isRunning(one.state));
        if (lane === undefined) continue;
        if (desk.talk === null) start(desk, lane, by);
        else {
          desk.talk = noteActivity(desk.talk, clock.now());
          goOn(desk);
          wake(desk);
        }
      }
    },
    end(lanes) {
      for (const desk of desksOf(lanes)) finish(desk);
    },
    lanesChanged() {
      const isSame = ({ lanes }: Desk, others: readonly LaneRunner[]): boolean =>
        lanes.length === others.length && lanes.every((lane) => others.includes(lane));
      const now = deps.desks().map((lanes) => desks.find((desk) => isSame(desk, lanes)) ?? createDesk(lanes));
      for (const desk of desks) if (!now.includes(desk)) finish(desk);
      desks = now;
    },
    close() {
      unwatch();
      notices.close();
      for (const desk of desks) finish(desk);
    },
  };
}

function createDesk(lanes: readonly LaneRunner[]): Desk {
  return {
    lanes,
    talk: null,
    lane: '',
    beginnings: new Map(),
    informed: new Map(),
    endingAt: null,
    endedAt: null,
    cancel() {},
  };
}

function settingOf({ state }: LaneRunner): Setting {
  const { volume, source, targets } = state.options;
  return { volume, source, targets };
}

function configuredSetting(lane: LaneConfig | undefined): Setting | null {
  if (lane === undefined) return null;
  return { volume: lane.playback.volume, source: lane.source, targets: lane.targets };
}
