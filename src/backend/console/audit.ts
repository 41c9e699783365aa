/** Writes an audit line before each action, and its result afterwards. If that line cannot be written, the action is not carried out. */
import type { ConsoleStore } from '../../ports/console-store.ts';
import type { Log } from '../../ports/log.ts';
import { clean, cleanValue } from '../fleet/clean.ts';
import { Refusal } from './refusal.ts';

export interface Action {
  readonly who: string;
  /** Address of the browser, or "this machine". */
  readonly from: string;
  readonly what: string;
  readonly on: string | null;
  /** Arguments that may be kept. */
  readonly args?: Readonly<Record<string, unknown>>;
}

export interface Audit {
  /** @param work returns the result as a text. An error that it throws is written to the audit and thrown again. */
  act<T extends { readonly result: string }>(action: Action, work: () => Promise<T>): Promise<T>;
  begin(action: Action): Promise<string>;
  end(id: string, ok: boolean, text: string): Promise<void>;
}

const LONGEST_ARGS = 16_384;

export function createAudit(store: ConsoleStore, log: Log): Audit {
  const begin = async ({ who, from, what, on, args = {} }: Action): Promise<string> => {
    const text = JSON.stringify(cleanValue(args));
    const id = await store.beginAudit({
      who: clean(who, 64),
      from: clean(from, 64),
      what,
      on: on === null ? null : clean(on),
      args: text.length > LONGEST_ARGS ? '{"shortened":true}' : text,
    });
    log.info({ who: clean(who, 64), from: clean(from, 64), what, on }, 'a person acts at the console');
    return id;
  };
  const end = (id: string, ok: boolean, text: string): Promise<void> =>
    store.endAudit(id, ok, clean(text, 400));
  return {
    begin,
    end,
    async act(action, work) {
      const id = await begin(action);
      try {
        const done = await work();
        await end(id, true, done.result);
        return done;
      } catch (error) {
        await end(id, false, failureOf(error)).catch(() => {});
        throw error;
      }
    },
  };
}

/** Leaves out sentences about invalid input, which may quote it: what was typed may be a secret. */
function failureOf(error: unknown): string {
  if (!(error instanceof Refusal)) return 'it failed: the log of the backend says why';
  return error.problem.code === 'invalid' ? 'it was refused: the input was not valid' : error.message;
}
