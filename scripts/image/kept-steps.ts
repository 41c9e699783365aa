import type { Steps } from '../steps.ts';
import { cacheFolder, findKept, isThere, type Kept, keep, type Wanted } from './kept.ts';

/** Steps whose results later runs reuse. */
export interface KeptSteps {
  /** Reuses the result of an earlier run; otherwise makes it. @param make returns a remark */
  take(name: string, wanted: Wanted, make: (folder: string) => Promise<string>): Promise<Kept>;
  /** The same, but null if an earlier run has left nothing. */
  find(name: string, wanted: Wanted): Promise<Kept | null>;
  /** Names of the steps that were taken from earlier runs. */
  readonly taken: readonly string[];
}

/** @param isFresh ignores the results of earlier runs */
export function keptSteps({ step }: Pick<Steps, 'step'>, isFresh: boolean, cache = cacheFolder()): KeptSteps {
  const taken: string[] = [];
  const look = async (name: string, wanted: Wanted): Promise<Kept | 'missing' | 'damaged'> => {
    const found = isFresh ? 'missing' : await findKept(wanted, cache);
    if (typeof found === 'object') taken.push(name);
    return found;
  };
  const since = ({ madeAt }: Kept): string => `kept from ${madeAt.toISOString().slice(0, 10)}`;
  return {
    taken,
    async take(name, wanted, make) {
      let result: Kept | null = null;
      await step(name, async () => {
        const found = await look(name, wanted);
        if (typeof found === 'object') {
          result = found;
          return since(found);
        }
        let remark = '';
        const write = async (folder: string): Promise<void> => {
          remark = await make(folder);
        };
        result = await keep(wanted, write, cache);
        return found === 'damaged' ? `${remark}; the kept one was damaged` : remark;
      });
      if (result === null) throw new Error(`${name} was not made`);
      return result;
    },
    async find(name, wanted) {
      let result: Kept | null = null;
      if (isFresh || !isThere(wanted, cache)) return null;
      await step(name, async () => {
        const found = await look(name, wanted);
        if (typeof found !== 'object') return found === 'damaged' ? 'the kept one is damaged' : 'too old';
        result = found;
        return since(found);
      });
      return result;
    },
  };
}
