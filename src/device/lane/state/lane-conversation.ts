/** The notice to the people at the desk that an AI interprets and that nothing is stored. */
export interface Notice {
  readonly language: string;
  readonly text: string;
}

/** The conversation at a lane's desk, as the lane reports it. */
export interface LaneConversation {
  readonly startedAt: number;
  /** The notice for the people at this lane; null: the owner has switched the notice off. */
  readonly notice: Notice | null;
  /** When the conversation ends if nobody acts (monotonic ms); null: this is not near. */
  readonly endingAt: number | null;
}
