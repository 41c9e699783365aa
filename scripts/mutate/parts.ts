/** A part of the program that a sample draws from. */
export interface Part {
  readonly name: string;
  /** How often a sample draws from this part, compared with the others. */
  readonly weight: number;
  /** Path prefixes of the files in this part. */
  readonly paths: readonly string[];
}

/** A file belongs to the first part that names it. Money, rights and the microphone weigh most: a fault there costs most. */
export const PARTS: readonly Part[] = [
  {
    name: 'bill',
    weight: 4,
    paths: [
      'src/backend/bill/',
      'src/backend/verbs/bill-verb.ts',
      'src/protocol/bill.ts',
      'src/backend/watch/group-budgets.ts',
      'src/device/limits/budget.ts',
      'src/device/limits/budget-',
    ],
  },
  {
    name: 'mint',
    weight: 4,
    paths: ['src/backend/issuing/'],
  },
  {
    name: 'sign-in',
    weight: 4,
    paths: [
      'src/backend/console/sign-in.ts',
      'src/backend/console/login-limits.ts',
      'src/adapters/console/',
      'src/backend/verbs/people-verb.ts',
    ],
  },
  {
    name: 'roles',
    weight: 4,
    paths: [
      'src/protocol/console-routes.ts',
      'src/backend/console/ro',
      'src/backend/console/call.ts',
      'src/backend/console/refusal.ts',
      'src/backend/broker/access.ts',
    ],
  },
  { name: 'audit', weight: 2, paths: ['src/backend/console/audit.ts', 'src/backend/store/console-audit.ts'] },
  {
    name: 'jobs',
    weight: 2,
    paths: ['src/backend/jobs/', 'src/backend/store/console-jobs.ts', 'src/protocol/console-jobs.ts'],
  },
  {
    name: 'roll-outs',
    weight: 3,
    paths: [
      'src/backend/rollout/',
      'src/backend/verbs/rollout-verb.ts',
      'src/backend/store/rollout-store.ts',
    ],
  },
  { name: 'releases', weight: 2, paths: ['src/backend/releases/'] },
  {
    name: 'updater',
    weight: 2,
    paths: ['src/updater/', 'src/adapters/update/', 'src/core/update/', 'src/device/update/'],
  },
  { name: 'webhook', weight: 1, paths: ['src/backend/watch/'] },
  {
    name: 'store',
    weight: 3,
    paths: ['src/backend/store/', 'src/backend/verbs/backup-verb.ts', 'src/protocol/backup.ts'],
  },
  {
    name: 'console',
    weight: 3,
    paths: ['src/backend/console/', 'src/backend/fleet/', 'src/fleet/'],
  },
  { name: 'console page', weight: 2, paths: ['src/page/console/'] },
  { name: 'page', weight: 2, paths: ['src/page/'] },
  {
    name: 'screen server',
    weight: 2,
    paths: ['src/adapters/screen/', 'src/device/screen/'],
  },
  {
    name: 'keys',
    weight: 3,
    paths: [
      'src/device/desk/desk-keys',
      'src/adapters/keys/',
      'src/protocol/key',
      'src/protocol/config-keys.ts',
    ],
  },
  { name: 'two-way', weight: 3, paths: ['src/device/lane/two-way/', 'src/device/lane/turn.ts'] },
  { name: 'conversation', weight: 3, paths: ['src/device/desk/'] },
  { name: 'room', weight: 3, paths: ['src/device/lane/room/', 'src/device/lane/runner/room'] },
  { name: 'installer', weight: 2, paths: ['src/installer/'] },
  { name: 'lane', weight: 2, paths: ['src/device/lane/', 'src/device/playout/', 'src/sound/'] },
  { name: 'device', weight: 2, paths: ['src/device/', 'src/machine/', 'src/core/'] },
  { name: 'backend', weight: 2, paths: ['src/backend/'] },
  { name: 'adapters', weight: 2, paths: ['src/adapters/'] },
  { name: 'rest', weight: 1, paths: ['src/'] },
];

export function partOf(path: string): string {
  return PARTS.find(({ paths }) => paths.some((start) => path.startsWith(start)))?.name ?? 'rest';
}

/**
 * Draws mutants without putting any back: first a part by its weight, then one of its mutants.
 * @param random returns numbers from 0 to below 1
 */
export function drawSample<T extends { readonly file: string }>(
  mutants: readonly T[],
  count: number,
  weights: ReadonlyMap<string, number>,
  random: () => number,
): T[] {
  const left = new Map<string, T[]>();
  for (const one of mutants) {
    const part = partOf(one.file);
    if ((weights.get(part) ?? 0) > 0) left.set(part, [...(left.get(part) ?? []), one]);
  }
  const drawn: T[] = [];
  while (drawn.length < count && left.size > 0) {
    const part = drawPart([...left.keys()], weights, random);
    const candidates = left.get(part) ?? [];
    drawn.push(...candidates.splice(Math.floor(random() * candidates.length), 1));
    if (candidates.length === 0) left.delete(part);
  }
  return drawn;
}

function drawPart(
  names: readonly string[],
  weights: ReadonlyMap<string, number>,
  random: () => number,
): string {
  const weightOf = (name: string): number => weights.get(name) ?? 0;
  let rest = random() * names.reduce((sum, name) => sum + weightOf(name), 0);
  for (const name of names) {
    rest -= weightOf(name);
    if (rest < 0) return name;
  }
  return names.at(-1) ?? '';
}
