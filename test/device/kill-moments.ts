import { describe, expect, it } from 'vitest';
import { createFakeDeps, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

async function boot(disk: ReturnType<typeof createMemoryFile>) {
  const deps = createFakeDeps(testConfig(), { commandFile: disk.file });
  await deps.goLive();
  return deps;
}
type Fake = Awaited<ReturnType<typeof boot>>;

/** @param every step between two tested moments of a kill; the moments are 47 ms apart */
export function describeKillMoments(every: number): void {
  describe('the final answer', () => {
    const codeOf = (answer: object | undefined): string | undefined =>
      (answer as { error?: { code: string } } | undefined)?.error?.code;

    it('is not contradicted, at whatever moment the agent is killed', async () => {
      const disk = createMemoryFile();
      const deps = await boot(disk);
      const names = ['mute', 'stop', 'unmute', 'start', 'mute', 'diagnose', 'languages', 'mute', 'stop'];
      const request = (i: number): object => ({
        id: `c${i}`,
        args: names[i] === 'languages' ? { targets: ['de'] } : {},
      });
      const finals = (of: Fake, name: string, id: string): (string | undefined)[] =>
        of.answers(name).flatMap((answer) => {
          if (answer['id'] !== id || answer['status'] === 'accepted') return [];
          return [codeOf(answer) ?? String(answer['status'])];
        });
      let judged = 0;
      let repeated = 0;
      for (let step = 0; step < 120; step++) {
        const command = names[step / 8];
        if (command !== undefined) deps.command(command, request(step / 8));
        if (step % 5 === 0) disk.hang();
        if (step % 5 === 3) disk.letGo();
        await deps.clock.elapse(47);
        if (step % every !== 0) continue;
        const left = createMemoryFile();
        if (disk.text !== null) left.fill(disk.text);
        const next = await boot(left);
        for (const [i, name] of names.entries()) {
          const [told] = finals(deps, name, `c${i}`);
          if (told === undefined || name === 'diagnose') continue;
          next.command(name, request(i));
          await next.clock.elapse(10);
          const again = finals(next, name, `c${i}`);
          expect({ step, name, told: [...new Set(again)] }).toEqual({ step, name, told: [told] });
          // Once for the command, and again if the hanging disk did not record the arrival.
          expect(again.length).toBeLessThanOrEqual(2);
          judged += 1;
          repeated += again.length - 1;
        }
        expect(next.answers('diagnose')).toEqual([]);
      }
      expect(judged).toBeGreaterThan(300 / every);
      expect(repeated).toBeLessThan(judged / 4);
    });
  });
}
