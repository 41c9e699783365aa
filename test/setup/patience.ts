/**
 * For `expect` in each configuration: how long `expect.poll` waits for what another process, thread or timer does. Vitest's own
 * second is too short on a machine that is slow and busy; the bound is only met by a failure.
 */
export const PATIENT = { poll: { timeout: 60_000, interval: 20 } };
