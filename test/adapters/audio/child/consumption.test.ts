import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openConsumption } from '../../../../src/adapters/audio/child/consumption.ts';
import { needs } from '../../../needs.ts';

const PERIOD = 480;
const within = { timeout: 60_000, interval: 20 };
/** A child that reads whole periods. It has acknowledged the first one, so its own startup reads are over. */
async function startTaker() {
  const child = spawn('dd', [`bs=${PERIOD * 2}`, 'iflag=fullblock'], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let given = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    given += bytes.byteLength;
  });
  child.stdin.write(Buffer.alloc(PERIOD * 2));
  await expect.poll(() => given, within).toBe(PERIOD * 2);
  return child;
}

const missing = existsSync('/proc/self/io') ? null : 'no /proc/PID/io';

describe(
  `the consumption of a child${missing === null ? '' : `: skipped, ${missing}`}`,
  needs(missing),
  () => {
    it('comes from the kernel, in whole periods', async () => {
      // Reads ten periods and then no more, like a device with a full buffer.
      const child = await startTaker();
      const meter = openConsumption(child.pid ?? 0, PERIOD, 2);
      expect(meter?.frames()).toBe(0);
      child.stdin.write(Buffer.alloc(PERIOD * 2 * 10));
      await expect.poll(() => meter?.frames(), within).toBe(10 * PERIOD);
      meter?.begin();
      expect(meter?.frames()).toBe(0);
      child.stdin.write(Buffer.alloc(PERIOD * 2 * 3));
      await expect.poll(() => meter?.frames(), within).toBe(3 * PERIOD);
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect(meter?.frames()).toBeNull();
      meter?.close();
    });

    it('stays exact for hours when a child reads its periods in pieces', async () => {
      const periodBytes = PERIOD * 2;
      const child = await startTaker();
      const meter = openConsumption(child.pid ?? 0, PERIOD, 2);
      const pieces = 12;
      const periods = 150;
      for (let period = 1; period <= periods; period++) {
        for (let piece = 0; piece < pieces; piece++) {
          child.stdin.write(Buffer.alloc(periodBytes / pieces));
          await sleep(1);
        }
        // Each further read of a period looks like part of a wake-up: that must not add up.
        await expect.poll(() => meter?.frames(), within).toBe(period * PERIOD);
      }
      meter?.close();
    });

    it.each([
      ['a timer', [8, 8]],
      ['a pipe of a sound server', [2, 0, 1, 2, 10, 0, 1, 2]],
    ])('does not include the wake-ups of %s', async (_, wakeUps) => {
      const script = `
        const { openSync, readSync, writeSync } = require('node:fs');
        const [zeros, nothing, buffer] = [openSync('/dev/zero'), openSync('/dev/null'), Buffer.alloc(${PERIOD * 2})];
        writeSync(1, '.');
        for (;;) {
          if (readSync(0, buffer) === 0) break;
          for (const bytes of ${JSON.stringify(wakeUps)})
            readSync(bytes === 0 ? nothing : zeros, buffer, 0, Math.max(1, bytes));
          writeSync(1, '.');
        }`;
      const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      let lines = 0;
      child.stdout.on('data', (bytes: Buffer) => {
        lines += bytes.byteLength;
      });
      await expect.poll(() => lines, within).toBe(1);
      const meter = openConsumption(child.pid ?? 0, PERIOD, 2);
      // Half a minute of sound, checked as often as for a loudspeaker.
      for (let period = 1; period <= 1500; period++) {
        child.stdin.write(Buffer.alloc(PERIOD * 2));
        await expect.poll(() => lines, { ...within, interval: 1 }).toBe(1 + period);
        if (period % 16 === 0) expect(meter?.frames()).toBe(period * PERIOD);
      }
      meter?.close();
    });

    it('is unknown for a process that does not exist', () => {
      expect(openConsumption(2 ** 22 + 1, PERIOD, 2)).toBeNull();
    });
  },
);
