/** The two sides of a desk: the readers of the lane's source and of its target. */
export type Side = 'source' | 'target';

export interface Look {
  readonly isLarge: boolean;
  readonly isContrast: boolean;
}

/** What readers have chosen. A choice ends with its conversation: in the next one, the look is the usual one again. */
export interface Looks {
  /** The conversation, as `talkNow` names it. */
  readonly talk: string;
  readonly bySide: Readonly<Partial<Record<Side, Look>>>;
}

export const NO_LOOKS: Looks = { talk: '', bySide: {} };

/** The look of the part of the page that these sides read. */
export function lookOf({ talk: at, bySide }: Looks, talk: string, sides: readonly Side[], usual: Look): Look {
  const chosen = at === talk ? sides.flatMap((side) => bySide[side] ?? []) : [];
  return chosen[0] ?? usual;
}

/** Only the chooser's side changes: on the other side, someone may be reading. */
export function withLook(looks: Looks, talk: string, sides: readonly Side[], look: Look): Looks {
  const before = looks.talk === talk ? looks.bySide : {};
  return { talk, bySide: { ...before, ...Object.fromEntries(sides.map((side) => [side, look])) } };
}
