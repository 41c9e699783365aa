import { createCallers } from '../../machine/callers.ts';
import type { Handlers } from '../../machine/machine.ts';
import type { Runner } from '../../machine/runner.ts';
import { CommandError } from '../commands/command-request.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import type { LaneEvent } from '../lane/state/lane-event.ts';
import {
  refusalOf,
  type SayAnswer,
  type SayEffect,
  type SayEvent,
  type Speech,
  sayMachine,
} from './say-machine.ts';

export interface TextSpeakerDeps {
  readonly runner: Runner;
  readonly lanes: readonly LaneRunner[];
  watch(listener: (step: LaneStep) => void): () => void;
}

/** Has the lanes speak texts, and answers who asked for them. The machine keeps their order. */
export interface TextSpeaker {
  /** Resolves with the milliseconds heard in each lane. @throws CommandError, at once or later */
  say(lanes: readonly LaneRunner[], speech: Speech): Promise<readonly number[]>;
  /** The conversation at these lanes has ended: a visitor's typed text is not spoken to the next visitor. */
  dropTyped(lanes: readonly LaneRunner[]): void;
  /** A lane was added or removed. */
  lanesChanged(): void;
  close(): void;
}

export function createTextSpeaker({ runner, lanes, watch }: TextSpeakerDeps): TextSpeaker {
  const callers = createCallers<SayAnswer>();
  const post = (id: string, event: LaneEvent): void => lanes.find((lane) => lane.id === id)?.post(event);
  const handlers: Handlers<SayEvent, SayEffect> = {
    start_lane({ lane }) {
      post(lane, { type: 'start' });
    },
    take_turn({ lane, speaker }) {
      for (const held of [true, false]) post(lane, { type: 'turn', speaker, held });
    },
    speak({ lane, id, text, language, translate }) {
      post(lane, { type: 'say', id, text, language, translate });
    },
    answer({ caller, answer }) {
      callers.answer(caller, answer);
    },
  };
  const threw = (): void => {
    const message = 'the text was not spoken because of a defect of the agent; see its log';
    callers.answerAll({ ok: false, code: 'internal', message });
    machine.post({ type: 'reset' });
  };
  const machine = runner.run(sayMachine, handlers, () => ({ lanes }), threw);
  const unwatch = watch(({ lane, effects }) => {
    for (const effect of effects)
      if (effect.type === 'said') machine.post({ type: 'said', lane, said: effect });
  });
  const enqueue = async ({ id }: LaneRunner, speech: Speech): Promise<number> => {
    const answer = await callers.wait((caller) => machine.post({ type: 'say', lane: id, caller, speech }));
    if (answer.ok) return answer.playedMs;
    throw new CommandError(answer.code, answer.message);
  };
  return {
    say(chosen, speech) {
      for (const lane of chosen) {
        const problem = refusalOf(machine.state, lane);
        if (problem !== null) throw new CommandError(problem.code, problem.message);
      }
      return Promise.all(chosen.map((lane) => enqueue(lane, speech)));
    },
    dropTyped: (chosen) => machine.post({ type: 'drop_typed', lanes: chosen.map(({ id }) => id) }),
    lanesChanged: () => machine.post({ type: 'lanes_changed' }),
    close() {
      machine.close();
      unwatch();
    },
  };
}
