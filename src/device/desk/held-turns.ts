import type { Clock } from '../../ports/clock.ts';
import type { ScreenAction } from '../../protocol/screen.ts';

export type TurnAction = Extract<ScreenAction, { do: 'turn' }>;

/** How long a press counts as held (ms); the page repeats it every 2 s. A page that is gone must not leave a microphone open. */
const HELD_FOR_MS = 5000;

/** The buttons that visitors hold down on pages. */
export interface HeldTurns {
  /** @returns whether the lane must be told; false: nothing changes for it */
  take(action: TurnAction): boolean;
  close(): void;
}

/** @param release called when the page has stopped repeating a held button */
export function createHeldTurns(clock: Clock, release: (action: TurnAction) => void): HeldTurns {
  const held = new Map<string, { readonly speaker: string; cancel(): void }>();
  const end = (lane: string): void => {
    held.get(lane)?.cancel();
    held.delete(lane);
  };
  return {
    take(action) {
      const { lane, speaker } = action;
      const before = held.get(lane)?.speaker ?? null;
      // Another person has pressed the other button meanwhile.
      if (!action.held && before !== null && before !== speaker) return false;
      end(lane);
      if (!action.held) return true;
      const cancel = clock.at(clock.now() + HELD_FOR_MS, () => {
        end(lane);
        release({ ...action, held: false });
      });
      held.set(lane, { speaker, cancel });
      return before !== speaker;
    },
    close() {
      for (const lane of held.keys()) end(lane);
    },
  };
}
