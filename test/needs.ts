import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test is skipped on this machine. */
    lacks?: string;
  }
}

/**
 * Options that skip tests where this machine lacks something. Reports name the reason (`setup/skip-reasons.ts`).
 * @param reason such as "needs mosquitto"; null or false: nothing is lacking
 */
export function needs(reason: string | null | false): TestOptions {
  return reason === null || reason === false ? {} : { skip: true, meta: { lacks: reason } };
}
