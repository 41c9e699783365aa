import type { SeenDevice } from '../../../src/backend/rollout/device-entry.ts';
import { createRollout, type Rollout, readRollout } from '../../../src/backend/rollout/rollout.ts';
import { type Seen, step } from '../../../src/backend/rollout/step.ts';
import type { UpdateReport } from '../../../src/protocol/common/update.ts';

export const START = Date.UTC(2026, 10, 27, 14);

export const report = (
  state: UpdateReport['state'],
  to: string | null = '1.3.0',
  reason: string | null = null,
) => ({
  state,
  from: '1.2.0',
  to,
  reason,
  progress: null,
});
export const device = (more: Partial<SeenDevice> = {}): SeenDevice => ({
  isConnected: true,
  version: '1.2.0',
  boot: 'b1',
  update: report('idle', null),
  troubleMs: 0,
  isImplausible: false,
  ...more,
});
export const live = (more: Partial<SeenDevice> = {}) =>
  device({ version: '1.3.0', boot: 'b2', update: report('done'), ...more });

/** A fleet whose devices a test changes, and a roll-out on it. */
export function scene(count: number, waves = [1, 10, 100], id = 'r1') {
  const names = Array.from({ length: count }, (_, index) => `museum/kiosk-${index + 1}`);
  const devices = new Map(names.map((name) => [name, device()]));
  const plan = { version: '1.3.0', manifestUrl: null, waves, group: null, by: 'ann' };
  let rollout = createRollout(id, plan, START);
  let now = START;
  return {
    devices,
    get rollout() {
      return rollout;
    },
    set(next: Rollout) {
      rollout = next;
    },
    drawn: () => Object.keys(rollout.drawn).sort(),
    go(ms = 5000, seen: Partial<Seen> = {}) {
      now += ms;
      const all: Seen = {
        elapsedMs: ms,
        devices,
        unsupported: 0,
        conversations: new Map(),
        answers: [],
        ...seen,
        billedMs: seen.billedMs ?? new Map(),
      };
      const done = step(rollout, all, now);
      // As the store gives it back.
      rollout = readRollout(JSON.stringify(done.rollout)) ?? rollout;
      return done.orders;
    },
    all(change: (name: string) => SeenDevice, which = names) {
      for (const name of which) devices.set(name, change(name));
    },
  };
}
