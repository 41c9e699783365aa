import { expect } from 'vitest';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import { closed, ready } from '../service-events.ts';
import { BASE, createFakeDeps, testConfig } from './fake-deps.ts';

/** The tests' clock starts on a Thursday at nine, UTC. */
export const THURSDAY = Date.UTC(2026, 0, 15);
export const HOUR = 3_600_000;
export const MIN = 60_000;
export const DESIRED = `${BASE}/config/desired`;

/** A service that answers each ping. */
const withPongs = (deps: AgentDeps): AgentDeps => ({
  ...deps,
  openStream: (url, listener) => ({ ...deps.openStream(url, listener), ping: () => listener.pong() }),
});
export const hours = (from: string, to: string, more: object = {}) => ({
  timeZone: 'UTC',
  open: [{ days: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'], from, to }],
  ...more,
});
/** A kiosk with opening hours, budget and commands; the test acts as owner and service. */
export function createScheduledAgent(
  config: Record<string, unknown>,
  more: Partial<AgentDeps> = {},
  lane: Record<string, unknown> = { standbyAfter: 0 },
) {
  const deps = createFakeDeps(testConfig(lane, config), { timeZone: () => 'UTC', ...more }, withPongs);
  const phase = () => deps.agent.lanes[0]?.phase;
  let commands = 0;
  return Object.assign(deps, {
    phase,
    statusTold() {
      const { status, reasons } = deps.sent('status').at(-1)?.body ?? {};
      return [status, reasons];
    },
    closedUntil() {
      deps.clock.advance(1000);
      const { lanes } = (deps.sent('state').at(-1)?.body ?? {}) as {
        lanes?: { closed_until: string | null }[];
      };
      return lanes?.[0]?.closed_until;
    },
    /** The service closes cleanly on request. */
    closeDrained() {
      if (phase() === 'draining') deps.lastStream().listener.said(closed('closed'));
    },
    /** The requested token arrives, and the service runs the task. */
    liveAgain() {
      deps.grant();
      deps.lastStream().listener.opened();
      deps.clock.advance(2800);
      deps.service(ready());
      expect(phase()).toBe('live');
    },
    ask(name: string, args: object = {}) {
      deps.command(name, { id: `c${commands++}`, args });
      return deps.answers(name).at(-1) as { status: string; error?: { code: string; message: string } };
    },
    /** @param wall a time after the present one */
    advanceTo(wall: number) {
      deps.clock.advance(wall - (deps.clock.wall() ?? 0));
    },
  });
}
export type ScheduledAgent = ReturnType<typeof createScheduledAgent>;
