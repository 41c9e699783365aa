import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLastResort } from '../../../src/adapters/audio/last-resort.ts';
import type { Log } from '../../../src/ports/log.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { makeFolder } from './wav-files.ts';

const within = { timeout: 60_000, interval: 20 };

function arrange(command: (folder: string) => string[]) {
  const folder = makeFolder();
  const clock = createVirtualClock();
  const lines: string[] = [];
  const note = (_fields: object, sentence: string): void => void lines.push(sentence);
  const log: Log = { trace: note, debug: note, info: note, warn: note, error: note };
  const hook = createLastResort({ command: command(folder), afterS: 600 }, clock, log);
  const marks = (): number => {
    const file = join(folder, 'marks');
    return existsSync(file) ? readFileSync(file).length : 0;
  };
  return { clock, lines, hook, marks };
}
const MARK = (folder: string): string[] => [
  process.execPath,
  '-e',
  'require("node:fs").appendFileSync(process.argv[1], "x")',
  join(folder, 'marks'),
];

describe('the command for hardware that stays lost', () => {
  it('runs after lasting trouble, at most once an hour', async () => {
    const { clock, hook, marks, lines } = arrange(MARK);
    for (let trouble = 0; trouble < 600_000; trouble += 5000) hook('capture', trouble);
    expect(lines).toEqual([]);
    for (let trouble = 600_000; trouble < 4_100_000; trouble += 5000) {
      hook('capture', trouble);
      hook('playback', trouble);
      clock.advance(5000);
    }
    await expect.poll(marks, within).toBe(1);
    expect(lines).toEqual(['the sound device does not recover; running the configured command']);
    clock.advance(600_000);
    hook('capture', 4_800_000);
    await expect.poll(marks, within).toBe(2);
  });

  it('logs when the command fails or is not installed', async () => {
    const failing = arrange(() => [process.execPath, '-e', 'process.exit(3)']);
    failing.hook('capture', 600_000);
    await expect.poll(() => failing.lines.at(-1), within).toBe('the command for a lost sound device failed');
    const missing = arrange(() => ['/nonexistent/reboot']);
    missing.hook('capture', 600_000);
    await expect.poll(() => missing.lines.at(-1), within).toMatch(/cannot run; fix audio\.unfixable/);
  });

  it('runs without a shell', async () => {
    const { hook, lines } = arrange((folder) => {
      writeFileSync(join(folder, 'x'), '');
      return [`rm ${join(folder, 'x')}; true`];
    });
    hook('capture', 600_000);
    await expect.poll(() => lines.at(-1), within).toMatch(/cannot run/);
  });
});
