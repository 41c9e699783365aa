import type { RegisteredDevice } from '../../adapters/ctl/registered.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { deviceIdSchema, nameSchema } from '../../protocol/mqtt/topics.ts';
import type { CtlOptions } from './ctl-options.ts';
import { VERB_NAMES } from './verbs.ts';

/** Target of a command. */
export type Target =
  | { readonly kind: 'device'; readonly device: string }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'all' };

/** The target's level in the topic of a command. */
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

/** The registered devices of the target. */
export function registeredIn(target: Target, registered: readonly RegisteredDevice[] = []): string[] {
  const isMeant = ({ device, groups }: RegisteredDevice): boolean => {
    switch (target.kind) {
      case 'device':
        return device === target.device;
      case 'group':
        return groups.includes(target.group);
      case 'all':
        return true;
    }
  };
  return registered.filter(isMeant).map(({ device }) => device);
}

/** Verbs that need no device: they default to all. */
const FOR_ALL = ['watch', 'help'];

/**
 * Reads the target from the words, and returns the rest: the verb with its arguments.
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
      throw new Failure(`"${group}" is not a valid group name: use a-z, 0-9 and "-", at most 64`, EXIT.usage);
    }
    return { target: { kind: 'group', group }, rest: words };
  }
  const [first, ...rest] = words;
  if (all || (first !== undefined && FOR_ALL.includes(first)))
    return { target: { kind: 'all' }, rest: words };
  if (first === undefined) {
    throw new Failure('no device and no verb given. See "dragoman ctl --help" for examples', EXIT.usage);
  }
  if (rest.length === 0 && VERB_NAMES.includes(first)) {
    throw new Failure(
      `no device given: put its name before "${first}", or use --group NAME or --all`,
      EXIT.usage,
    );
  }
  if (!deviceIdSchema.safeParse(first).success) {
    throw new Failure(`"${first}" is not a valid device name: use a-z, 0-9 and "-", at most 64`, EXIT.usage);
  }
  if (rest.length === 0)
    throw new Failure(`no verb given for ${first}; the verbs are ${VERB_NAMES.join(', ')}`, EXIT.usage);
  return { target: { kind: 'device', device: first }, rest };
}
