import { expect } from 'vitest';
import { configuration, handOver, LANE, live, SERVICE, wait } from '../kiosk.ts';
import { onMachine } from '../on-machine.ts';

/** The kernel writes what has changed within half a minute; the journal, which takes up to five, is told to at the end. */
const MEASURED_MS = 200_000;
const DAY_MS = 86_400_000;
const LIMIT_MS = 900_000;
/** By the agent, beyond what the system writes by itself. */
const MOST_MB_A_DAY = 200;

onMachine('what is written to the card', ({ onStoppedDevice }) => {
  onStoppedDevice(
    'in a day at rest',
    async (bench, { annotate }) => {
      const { machine } = bench;
      const measure = async () => {
        await machine.must(['sync']);
        const before = await machine.written();
        const startedAt = performance.now();
        await wait(MEASURED_MS);
        await machine.sh('journalctl --sync; sync');
        const aDay = DAY_MS / (performance.now() - startedAt);
        const { bytes, operations } = await machine.written();
        return {
          mb: ((bytes - before.bytes) * aDay) / 2 ** 20,
          operations: Math.round((operations - before.operations) * aDay),
        };
      };
      const without = await measure();
      await handOver(bench, configuration({ ...LANE, standbyAfter: 20 }));
      await machine.must(['systemctl', 'start', SERVICE]);
      await live(bench);
      await wait(30_000);
      const rest = await measure();
      await annotate(
        `a day: ${without.mb.toFixed(0)} MB in ${without.operations} writes by the system alone, ` +
          `${rest.mb.toFixed(0)} MB in ${rest.operations} with the agent at rest`,
      );
      expect(rest.mb).toBeGreaterThan(0);
      expect(rest.mb - without.mb).toBeLessThan(MOST_MB_A_DAY);
    },
    LIMIT_MS,
  );
});
