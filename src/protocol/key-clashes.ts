import { isObject } from './common/json.ts';
import type { KeyBinding } from './config-keys.ts';

interface Lane {
  readonly id: string;
  readonly source: string;
  readonly targets: readonly string[];
  readonly offer: readonly string[];
}

export interface Clash {
  readonly path: (string | number)[];
  readonly message: string;
}

/** Contradictions between `keys` and `lanes`. Keys and lanes that are invalid for other reasons are not checked here. */
export function keyClashes(keys: unknown, lanes: unknown): Clash[] {
  if (!Array.isArray(keys) || !Array.isArray(lanes)) return [];
  const known = lanes.filter(isLane);
  if (known.length < lanes.length) return [];
  return keys.flatMap((key: unknown, index) =>
    isBinding(key)
      ? clashesOf(key, known).map(({ path, message }) => ({
          path: ['keys', index, 'do', 'args', ...path],
          message,
        }))
      : [],
  );
}

function clashesOf({ do: { command, args } }: KeyBinding, lanes: readonly Lane[]): Clash[] {
  const { lane, step, source, targets } = args;
  const chosen = lane === undefined ? lanes : lanes.filter(({ id }) => id === lane);
  if (chosen.length === 0) {
    const known = lanes.map(({ id }) => `"${id}"`).join(', ');
    return [{ path: ['lane'], message: `must be the id of a lane: ${known}` }];
  }
  if (command !== 'languages') return [];
  if (step !== undefined && chosen.every(({ offer }) => offer.length === 0))
    return [{ path: ['step'], message: 'must not be given: the lane has no "offer" to choose from' }];
  const named = [source, ...(Array.isArray(targets) ? targets : [])].filter((one) => typeof one === 'string');
  return named.flatMap((language) => {
    const refusing = chosen.find((one) => !isOffered(one, language));
    if (refusing === undefined) return [];
    const message = `must not name "${language}": lane "${refusing.id}" does not offer it; add it to "offer"`;
    return [{ path: [language === source ? 'source' : 'targets'], message }];
  });
}

function isOffered({ source, targets, offer }: Lane, language: string): boolean {
  return [source, ...targets, ...offer].some((one) => one.toLowerCase() === language.toLowerCase());
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

function isLane(value: unknown): value is Lane {
  return (
    isObject(value) &&
    typeof value['id'] === 'string' &&
    typeof value['source'] === 'string' &&
    isTexts(value['targets']) &&
    isTexts(value['offer'])
  );
}

function isBinding(value: unknown): value is KeyBinding {
  return isObject(value) && isObject(value['do']) && isObject(value['do']['args']);
}
