/** Seeds that once found a defect, of the agent or of the simulator itself, and what it was. They run with every test. */
export interface Regression {
  readonly seed: number;
  readonly hours: number;
  readonly found: string;
}

export const REGRESSIONS: readonly Regression[] = [
  {
    seed: 81,
    hours: 0.5,
    found: 'a chunk left half full by a hanging microphone held the old sound of its own loudspeaker',
  },
  {
    seed: 901,
    hours: 0.4,
    found: 'the simulator took what waited in a socket through two outages for lost',
  },
  {
    seed: 5027,
    hours: 0.5,
    found: 'the simulator did not know a microphone unplugged in the middle of a word',
  },
];
