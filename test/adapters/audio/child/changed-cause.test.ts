import { renameSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createCommandCapture } from '../../../../src/adapters/audio/drivers/command-driver.ts';
import { createListener, makeProgram, RATE_HZ, startsOf } from './fake-programs.ts';

it('reports once that a program is not installed, after it had run before', async () => {
  const { heard, captureSink, deps } = createListener();
  const program = makeProgram('process.exitCode = 1;');
  const open = createCommandCapture({ command: [program], rateHz: RATE_HZ, seed: 1, deps });
  const capture = await open(captureSink);
  onTestFinished(() => capture.close());
  const within = { timeout: 60_000, interval: 20 };
  await expect.poll(() => startsOf(program), within).toBeGreaterThan(2);
  const messages = () => heard.faults.map(({ message }) => message);
  expect(messages()).toEqual([expect.stringContaining('ended with exit code 1')]);
  renameSync(program, `${program}.away`);
  await expect.poll(() => messages().length, within).toBe(2);
  const failures = capture.figures?.failures ?? 0;
  await expect.poll(() => capture.figures?.failures, within).toBeGreaterThan(failures + 2);
  expect(messages()).toEqual([
    expect.stringContaining('ended with exit code 1'),
    `the program "${program}" is not installed; install it, or fix the command in the configuration`,
  ]);
});
