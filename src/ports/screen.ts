import type { ScreenAction, ScreenChange, ScreenSnapshot } from '../protocol/screen.ts';

/** Why an action was not done, for the visitor. */
export interface ActionProblem {
  readonly code: string;
  readonly message: string;
}

/** The agent, as seen by the server of the kiosk's page. */
export interface ScreenSource {
  snapshot(): ScreenSnapshot;
  /** Calls back with each change, until the returned function is called. */
  watch(listener: (change: ScreenChange) => void): () => void;
  /** Resolves to null when the action is done, or to the problem. */
  act(action: ScreenAction): Promise<ActionProblem | null>;
}
