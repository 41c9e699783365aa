import type { ScreenAction, ScreenChange, ScreenSnapshot } from '../protocol/screen.ts';

/** Why an action was not done, for the visitor. */
export interface ActionProblem {
  readonly code: string;
  readonly message: string;
}

/** What the server of the kiosk's page shows, and whom it asks. */
export interface ScreenSource {
  snapshot(): ScreenSnapshot;
  /** Calls back with each change, until the returned function is called. */
  watch(listener: (change: ScreenChange) => void): () => void;
  /** Resolves when it is done, or with the problem. */
  act(action: ScreenAction): Promise<ActionProblem | null>;
}
