import type { Notice } from './notice.ts';

/** The conversation at a lane's desk, as the lane reports it. */
export interface LaneConversation {
  readonly startedAt: number;
  /** What the people at this lane are to know; null: the owner has switched the notice off. */
  readonly notice: Notice | null;
}
