import { languageClash } from '../../protocol/common/language.ts';
import { twoWayClash } from '../../protocol/config-desk.ts';
import type { LANE_COMMANDS } from '../../protocol/mqtt/commands/lane-commands.ts';
import type { CommandArgs } from '../../protocol/mqtt/commands/registry.ts';
import { CommandError } from '../commands/command-request.ts';
import type { CommandHandlers } from '../commands/command-table.ts';
import type { Conversations } from '../desk/conversations.ts';
import { isRunning } from '../desk/desk-rules.ts';
import { allOrNone, heardSteps, languageSteps, speakName } from '../desk/language-step.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import { volumeInUse } from '../lane/sound/headset.ts';
import { isMuted, type LaneOptions, type TaskOptions, taskOf } from '../lane/state/lane-options.ts';
import type { Admissions } from '../limits/admissions.ts';
import type { Speech } from '../say/say-machine.ts';
import type { TextSpeaker } from '../say/text-speaker.ts';
import { type TakesEffect, type TaskResultDeps, taskResult } from './task-result.ts';

type LaneHandlers = CommandHandlers<typeof LANE_COMMANDS>;

/** Note in the answer when the service was not asked. */
const LATER = 'takes effect with the next session';

export interface LaneHandlersDeps extends TaskResultDeps {
  readonly lanes: readonly LaneRunner[];
  readonly admissions: Pick<Admissions, 'admit' | 'stopped'>;
  readonly says: Pick<TextSpeaker, 'say'>;
  readonly conversations: Pick<Conversations, 'begin' | 'end'>;
  /** The lanes of each desk: at a desk with two, the visitor hears one of them and speaks at the other. */
  desks(): readonly (readonly LaneRunner[])[];
  /** Languages that a lane offers to visitors. */
  offerOf(lane: string): readonly string[];
}

/** The lanes' state in the form of an answer. */
export const brief = (affected: readonly LaneRunner[]): object => ({
  lanes: affected.map(({ id, phase, state }) => ({
    id,
    phase,
    muted: isMuted(state.options),
    volume: volumeInUse(state),
    echo: state.options.echo,
    source: taskOf(state).source,
    targets: taskOf(state).targets,
  })),
});

/** The handlers of commands that act on lanes. Each answer holds the state of the lanes after it. */
export function createLaneHandlers(deps: LaneHandlersDeps): Omit<LaneHandlers, 'identify'> {
  const { lanes, admissions, says } = deps;
  const chosen = (id: string | undefined): readonly LaneRunner[] => chooseLanes(lanes, id);
  const forEach = (args: { lane?: string | undefined }, act: (lane: LaneRunner) => void): unknown => {
    const affected = chosen(args.lane);
    for (const lane of affected) act(lane);
    return brief(affected);
  };
  return {
    start(args) {
      admissions.admit(chosen(args.lane), args.until);
      return forEach(args, (lane) => lane.post({ type: 'start' }));
    },
    stop(args) {
      const affected = chosen(args.lane);
      for (const lane of affected) lane.post({ type: 'stop' });
      admissions.stopped(affected);
      return brief(affected);
    },
    mute: ({ lane }) => setOptions(chosen(lane), { muted: true }),
    // Also ends a mute from the desk: otherwise the answer would be wrong.
    unmute: ({ lane }) => setOptions(chosen(lane), { muted: false, mutedAtDesk: false }),
    languages: (args) =>
      args.step === undefined
        ? changeLanguages(chosen(args.lane), args, deps, brief)
        : stepLanguages(chosen(args.lane), deps, brief),
    conversation: (args) => {
      const affected = chosen(args.lane);
      if (args.do === 'end') deps.conversations.end(affected);
      else beginConversation(affected, deps.conversations);
      return brief(affected);
    },
    volume: ({ lane, percent }) => forEach({ lane }, (one) => one.post({ type: 'volume', percent })),
    echo(args) {
      const shares = (lane: LaneRunner): boolean =>
        deps.desks().some((desk) => desk.length > 1 && desk.includes(lane));
      if (args.mode === 'off' && chosen(args.lane).some(shares))
        throw new CommandError('invalid_args', 'mode: must be "half-duplex" or "cancel" in a room');
      return forEach(args, (lane) => lane.post({ type: 'set_echo', mode: args.mode }));
    },
    voice: ({ lane, voice }) => changeTask(chosen(lane), { voice }, deps, brief),
    say: ({ lane, text, language, translate = false }) =>
      sayOn(chosen(lane), { text, language, translate }, says),
  };
}

/** The handlers that differ for keys and the screen. Their effect ends with the conversation, and never lifts the owner's mute. */
export function handlersAtDesk({
  lanes,
  says,
}: Pick<LaneHandlersDeps, 'lanes' | 'says'>): Pick<LaneHandlers, 'mute' | 'unmute' | 'say'> {
  return {
    say: ({ lane, text, language, translate = false }) =>
      sayOn(chooseLanes(lanes, lane), { text, language, translate, isTyped: true }, says),
    mute: ({ lane }) => setOptions(chooseLanes(lanes, lane), { mutedAtDesk: true }),
    unmute: ({ lane }) => setOptions(chooseLanes(lanes, lane), { mutedAtDesk: false }),
  };
}

function setOptions(lanes: readonly LaneRunner[], options: Partial<LaneOptions>): object {
  for (const lane of lanes) lane.post({ type: 'options', options });
  return brief(lanes);
}

/** The service's verdict becomes the answer. If one lane cannot take the languages, no lane is changed. */
function changeLanguages(
  lanes: readonly LaneRunner[],
  { source, targets }: CommandArgs<'languages'>,
  deps: TaskResultDeps,
  brief: (lanes: readonly LaneRunner[]) => object,
): unknown {
  for (const { state, id } of lanes) {
    const task = taskOf(state);
    const [from, to] = [source ?? task.source, targets ?? task.targets];
    const twoWay = twoWayClash(state.options.twoWay ?? 'off', from, to);
    const clash = languageClash(from, to) ?? twoWay?.message ?? null;
    if (clash !== null) throw new CommandError('invalid_args', `targets: ${clash} (lane "${id}")`);
  }
  const options = {
    ...(source === undefined ? {} : { source }),
    ...(targets === undefined ? {} : { targets }),
  };
  return changeTask(lanes, options, deps, brief);
}

/** Switches each lane to the visitors' next language. Its name is spoken once the service translates it. */
function stepLanguages(
  lanes: readonly LaneRunner[],
  deps: LaneHandlersDeps,
  brief: (lanes: readonly LaneRunner[]) => object,
): unknown {
  const steps = languageSteps(lanes, deps.desks(), deps.offerOf);
  const speak = (answer: unknown): unknown => {
    for (const step of heardSteps(steps)) speakName(step, deps.says);
    return answer;
  };
  const answer = allOrNone(steps, () => orderTasks(steps, deps, brief));
  return answer instanceof Promise ? answer.then(speak) : speak(answer);
}

/** @throws CommandError if none of the lanes runs */
function beginConversation(lanes: readonly LaneRunner[], conversations: Pick<Conversations, 'begin'>): void {
  if (!lanes.some(({ state }) => isRunning(state))) {
    const names = lanes.map(({ id }) => `"${id}"`).join(', ');
    throw new CommandError('stopped', `lane ${names} is stopped or closed: send start first`);
  }
  conversations.begin(lanes, 'command');
}

/** Sets the same options on all lanes. */
function changeTask(
  lanes: readonly LaneRunner[],
  options: Partial<TaskOptions>,
  deps: TaskResultDeps,
  brief: (lanes: readonly LaneRunner[]) => object,
): unknown {
  return orderTasks(
    lanes.map((lane) => ({ lane, options })),
    deps,
    brief,
  );
}

/** Sets the options of lanes. If a session runs, the service decides the answer. */
function orderTasks(
  orders: readonly { readonly lane: LaneRunner; readonly options: Partial<TaskOptions> }[],
  deps: TaskResultDeps,
  brief: (lanes: readonly LaneRunner[]) => object,
): unknown {
  const lanes = orders.map(({ lane }) => lane);
  const verdicts = orders.map(({ lane, options }) => {
    const before = lane.state;
    lane.post({ type: 'options', options });
    return taskResult(lane, before, deps);
  });
  const answer = (effects: readonly TakesEffect[]): unknown => ({
    ...brief(lanes),
    ...(effects.includes('next_session') ? { note: LATER } : {}),
  });
  const known = verdicts.flatMap((verdict) => (verdict instanceof Promise ? [] : [verdict]));
  return known.length === verdicts.length ? answer(known) : Promise.all(verdicts).then(answer);
}

/** Answers when every lane has spoken the text, or one has failed. */
function sayOn(lanes: readonly LaneRunner[], speech: Speech, says: Pick<TextSpeaker, 'say'>): unknown {
  return says
    .say(lanes, speech)
    .then((played) => ({ lanes: lanes.map(({ id }, index) => ({ id, played_ms: played[index] })) }));
}

/** The lanes of a command: the one that it names, or all. @throws CommandError */
export function chooseLanes(lanes: readonly LaneRunner[], id: string | undefined): readonly LaneRunner[] {
  if (id === undefined) return lanes;
  const lane = lanes.find((candidate) => candidate.id === id);
  if (lane !== undefined) return [lane];
  const known = lanes.map((candidate) => candidate.id).join(', ');
  throw new CommandError('unknown_lane', `there is no lane "${id}"; there are ${known}`);
}
