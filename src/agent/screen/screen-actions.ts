import { taskOf } from '../../core/lane/lane-options.ts';
import type { ActionProblem } from '../../ports/screen.ts';
import type { ScreenAction } from '../../protocol/screen.ts';
import { CommandError } from '../commands/command-request.ts';
import type { LaneRunner } from '../lane/lane-runner.ts';

const LOUDER_PERCENT = 10;
const LOUDEST_PERCENT = 100;

export interface ScreenActionsDeps {
  readonly lanes: readonly LaneRunner[];
  offer(lane: string): readonly string[];
  /** Carries out an operator's command. @throws CommandError */
  carryOut(name: string, args: object): Promise<unknown>;
  endConversation(): Promise<void>;
}

/** What visitors do on the screen. It goes the same way as an operator's commands. */
export interface ScreenActions {
  act(action: ScreenAction): Promise<ActionProblem | null>;
  /** Undoes what visitors have chosen, unless an operator has changed it since: the next visitor finds the kiosk as it was. */
  restore(): void;
}

interface Choice {
  readonly before: { readonly volume: number; readonly targets: readonly string[] };
  readonly volume?: number;
  readonly targets?: readonly string[];
}

export function createScreenActions({
  lanes,
  offer,
  carryOut,
  endConversation,
}: ScreenActionsDeps): ScreenActions {
  const choices = new Map<string, Choice>();
  const laneOf = (id: string): LaneRunner => {
    const lane = lanes.find((one) => one.id === id);
    if (lane === undefined) throw new CommandError('unknown_lane', `there is no lane "${id}"`);
    return lane;
  };
  const choose = ({ id, state }: LaneRunner, chosen: Partial<Choice>): void => {
    const before = { volume: state.options.volume, targets: taskOf(state).targets };
    choices.set(id, { ...(choices.get(id) ?? { before }), ...chosen });
  };

  const perform = async (action: ScreenAction): Promise<void> => {
    switch (action.do) {
      case 'language': {
        const lane = laneOf(action.lane);
        if (!offer(lane.id).includes(action.language))
          throw new CommandError('invalid_args', `language: "${action.language}" is not offered here`);
        const targets = [action.language];
        choose(lane, { targets });
        await carryOut('languages', { lane: lane.id, targets });
        return;
      }
      case 'louder': {
        const lane = laneOf(action.lane);
        const volume = Math.min(LOUDEST_PERCENT, lane.state.options.volume + LOUDER_PERCENT);
        choose(lane, { volume });
        await carryOut('volume', { lane: lane.id, percent: volume });
        return;
      }
      case 'say': {
        const lane = laneOf(action.lane);
        const [language = ''] = taskOf(lane.state).targets;
        await carryOut('say', { lane: lane.id, text: action.text, language, translate: true });
        return;
      }
      case 'end':
        return endConversation();
    }
  };

  return {
    async act(action) {
      try {
        await perform(action);
        return null;
      } catch (error) {
        if (error instanceof CommandError) return { code: error.code, message: error.message };
        throw error;
      }
    },
    restore() {
      for (const [id, { before, volume, targets }] of choices) {
        const lane = lanes.find((one) => one.id === id);
        if (lane === undefined) continue;
        const { options } = lane.state;
        const isVolumeTheirs = volume !== undefined && options.volume === volume;
        const isTargetTheirs = targets !== undefined && options.targets.join() === targets.join();
        if (isVolumeTheirs) lane.post({ type: 'options', options: { volume: before.volume } });
        if (isTargetTheirs) lane.post({ type: 'options', options: { targets: before.targets } });
      }
      choices.clear();
    },
  };
}
