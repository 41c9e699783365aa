/**
 * Options of `expect` in each configuration: time for `expect.poll` to wait for another process, thread or timer. Vitest's default
 * of a second is too short on a slow machine. Only a failure reaches this limit.
 */
export const PATIENT = { poll: { timeout: 60_000, interval: 20 } };
