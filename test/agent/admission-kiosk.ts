import { expect } from 'vitest';
import type { AgentDeps } from '../../src/agent/deps.ts';
import { BASE, createFakeDeps, type FakeDeps, testConfig } from './fake-deps.ts';

/** The tests' clock begins on a Thursday at nine, UTC. */
export const THURSDAY = Date.UTC(2026, 0, 15);
export const HOUR = 3_600_000;
export const MIN = 60_000;
export const DESIRED = `${BASE}/config/desired`;

/** A service that answers each ping. */
export const withPongs = (deps: AgentDeps): AgentDeps => ({
  ...deps,
  openStream: (url, listener) => ({ ...deps.openStream(url, listener), ping: () => listener.pong() }),
});
export const hours = (from: string, to: string, more: object = {}) => ({
  timeZone: 'UTC',
  open: [{ days: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'], from, to }],
  ...more,
});
export const create = (config: Record<string, unknown>, deps: Partial<AgentDeps> = {}) =>
  createFakeDeps(testConfig({ standbyAfter: 0 }, config), { timeZone: 'UTC', ...deps }, withPongs);
export const statusOf = (deps: FakeDeps) => {
  const { status, reasons } = deps.sent('status').at(-1)?.body ?? {};
  return [status, reasons];
};
export const closedUntil = (deps: FakeDeps) => {
  deps.clock.advance(1000);
  const { lanes } = (deps.sent('state').at(-1)?.body ?? {}) as { lanes?: { closed_until: string | null }[] };
  return lanes?.[0]?.closed_until;
};
export const phaseOf = (deps: FakeDeps) => deps.agent.lanes[0]?.phase;
/** The service closes in order where it is told to. */
export const finish = (deps: FakeDeps) => {
  if (phaseOf(deps) === 'draining') deps.lastStream().listener.ended(1000, '');
};
export const goLive = (deps: FakeDeps) => {
  deps.grant();
  deps.lastStream().listener.opened();
  deps.clock.advance(2800);
  deps.service({ message_type: 'current_task', data: {} });
  expect(phaseOf(deps)).toBe('live');
};
let commands = 0;
export const ask = (deps: FakeDeps, name: string, args: object = {}) => {
  deps.command(name, { id: `c${commands++}`, args });
  return deps.answers(name).at(-1) as { status: string; error?: { code: string; message: string } };
};
