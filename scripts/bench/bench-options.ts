import { parseArgs } from 'node:util';

export interface Options {
  readonly json: boolean;
  readonly write: boolean;
  readonly withAddons: boolean;
  /** The agent's echo mode. With `cancel`, the microphone hears the loudspeaker. */
  readonly echo: 'half-duplex' | 'cancel';
  /** Flags for the agent's Node instead of those in its unit file; null: those of the unit file. */
  readonly nodeFlags: readonly string[] | null;
  /** The commit that is measured beside this one; null: none. */
  readonly against: string | null;
  readonly plan: Plan;
}

/** Number and length of the measurements. */
export interface Plan {
  readonly name: 'full' | 'quick';
  readonly starts: number;
  readonly warmUpMs: number;
  readonly rounds: number;
  readonly roundMs: number;
  readonly loadedRounds: number;
  readonly dayHours: number;
}

const PLANS: Readonly<Record<Plan['name'], Plan>> = {
  full: {
    name: 'full',
    starts: 5,
    warmUpMs: 15_000,
    rounds: 4,
    roundMs: 30_000,
    loadedRounds: 5,
    dayHours: 24,
  },
  quick: {
    name: 'quick',
    starts: 1,
    warmUpMs: 8000,
    rounds: 1,
    roundMs: 20_000,
    loadedRounds: 1,
    dayHours: 4,
  },
};

export const USAGE = `npm run bench -- [options]

The agent as it is shipped, beside the smallest possible loop of arecord, WebSocket and aplay:
one run, both over the same periods, on virtual sound cards.

  --quick         a short run of 90 s to see whether it works; do not use its figures
  --warm-up S     begin S seconds after the start: during this time Node compiles
                  the code that a device runs for months
  --json          the last line is {"bench": {...}}
  --write         put the results into docs/bench.md and docs/bench.svg
  --against REF   also build another commit, and measure its agent side by side with
                  this one; not with --write or --with-addons
  --cancel        the microphone hears the loudspeaker, and the agent cancels this
                  echo; the goals stay those of half-duplex. Not with --write
  --with-addons   also measure alsa-capture and speaker in one process; installs
                  both into a temporary folder for this run
  --node-flags="--cpu-prof --cpu-prof-dir=DIR"
                  flags for the agent's Node, in place of those of its unit file
  --help
`;

/** @returns a text to print instead, for `--help` or invalid options */
export function readOptions(words: readonly string[]): Options | { text: string; code: number } {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        json: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        against: { type: 'string' },
        cancel: { type: 'boolean', default: false },
        'with-addons': { type: 'boolean', default: false },
        'node-flags': { type: 'string' },
        'warm-up': { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return { text: USAGE, code: 0 };
    if (values.cancel && values.write)
      throw new Error('--write is for the agent as it is shipped: not with --cancel');
    if (values.against !== undefined && values.write)
      throw new Error('--write is for this commit alone: not with --against');
    if (values.against !== undefined && values['with-addons'])
      throw new Error('--against has no room in the table for --with-addons: measure one at a time');
    const echo = values.cancel ? 'cancel' : 'half-duplex';
    const nodeFlags = values['node-flags']?.split(' ').filter((flag) => flag !== '') ?? null;
    const usual = PLANS[values.quick ? 'quick' : 'full'];
    const warmUpS = Number(values['warm-up'] ?? usual.warmUpMs / 1000);
    if (!(warmUpS >= 1 && warmUpS <= 86_400))
      throw new Error(`--warm-up must be a number of seconds from 1 to 86400, not "${values['warm-up']}"`);
    const plan = { ...usual, warmUpMs: warmUpS * 1000 };
    const { json, write, 'with-addons': withAddons, against = null } = values;
    return { json, write, withAddons, against, echo, nodeFlags, plan };
  } catch (error) {
    return { text: `${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, code: 2 };
  }
}
