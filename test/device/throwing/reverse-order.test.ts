/** The features' hooks are called in reverse order: what other tests show of the agent holds all the same. */
import { expect, it, vi } from 'vitest';
import { createFakeDeps, testConfig } from '../fake-deps.ts';

const joined = vi.hoisted((): string[][] => []);

vi.mock(import('../../../src/device/features/features.ts'), async (load) => {
  const { createFeatures } = await load();
  return {
    createFeatures(defects) {
      const features = createFeatures(defects);
      const { join } = features;
      return Object.assign(features, {
        join(given: Parameters<typeof join>[0]) {
          const reversed = Object.entries(given).reverse();
          joined.push(reversed.map(([name]) => name));
          join(Object.fromEntries(reversed));
        },
      });
    },
  };
});

it('reverses the order of the features', () => {
  createFakeDeps(testConfig({}));
  expect(joined.at(-1)?.slice(-2)).toEqual(['operator', 'step log']);
});

await import('../agent.test.ts');
await import('../backend-watch.test.ts');
await import('../broker-change.test.ts');
await import('../certificate-renewal.test.ts');
await import('../commands.test.ts');
await import('../config/lane-reload.test.ts');
await import('../desired-config.test.ts');
await import('../desk.test.ts');
await import('../presence.test.ts');
await import('../reload.test.ts');
await import('../schedule.test.ts');
await import('../signed-answers.test.ts');
await import('../signed-commands.test.ts');
await import('../status.test.ts');
await import('../troubles.test.ts');
await import('../two-lanes.test.ts');
await import('../unread-state.test.ts');
await import('../update.test.ts');
