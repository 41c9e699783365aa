import { EXIT, Failure } from '../../program/problem.ts';
import { deviceIdSchema, nameSchema } from '../../protocol/mqtt/topics.ts';
import type { CtlOptions } from './ctl-options.ts';
import { VERB_NAMES } from './verbs.ts';

/** Whom a command is for. */
export type Target =
  | { readonly kind: 'device'; readonly device: string }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'all' };

/** The level of the command's topic. */
export function topicLevel(target: Target): string {
  switch (target.kind) {
    case 'device':
      return target.device;
    case 'group':
      return `group/${target.group}`;
    case 'all':
      return 'all';
  }
}

/** Verbs that are for every device where none is named. */
const FOR_ALL = ['watch', 'help'];

/**
 * Tells whom the words are for, and the rest of them: the verb with what belongs to it.
 * @throws Failure
 */
export function readTarget(
  words: readonly string[],
  options: CtlOptions,
): { target: Target; rest: readonly string[] } {
  const { group, all } = options;
  if (group !== undefined && all) throw new Failure('give either --group or --all, not both', EXIT.usage);
  if (group !== undefined) {
    if (!nameSchema.safeParse(group).success) {
      throw new Failure(`"${group}" is no name of a group: a-z, 0-9 and "-", at most 64`, EXIT.usage);
    }
    return { target: { kind: 'group', group }, rest: words };
  }
  const [first, ...rest] = words;
  if (all || (first !== undefined && FOR_ALL.includes(first)))
    return { target: { kind: 'all' }, rest: words };
  if (first === undefined) {
    throw new Failure('whom shall it tell what? See "dragoman ctl --help" for examples', EXIT.usage);
  }
  if (rest.length === 0 && VERB_NAMES.includes(first)) {
    throw new Failure(
      `for which device? Give its name before "${first}", or --group NAME, or --all`,
      EXIT.usage,
    );
  }
  if (!deviceIdSchema.safeParse(first).success) {
    throw new Failure(`"${first}" is no name of a device: a-z, 0-9 and "-", at most 64`, EXIT.usage);
  }
  if (rest.length === 0)
    throw new Failure(`what shall ${first} do? There are ${VERB_NAMES.join(', ')}`, EXIT.usage);
  return { target: { kind: 'device', device: first }, rest };
}
