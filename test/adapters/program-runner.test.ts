import { describe, expect, it } from 'vitest';
import { createProgramRunner } from '../../src/adapters/program-runner.ts';

describe('system programs', () => {
  it('answer, fail, or are missing', async () => {
    const run = createProgramRunner({ PATH: process.env['PATH'] });
    const node = process.execPath;
    expect(await run(node, ['-e', 'process.stdout.write(process.env.LC_ALL)'])).toEqual({
      ok: true,
      text: 'C',
    });
    expect(await run(node, ['-e', 'console.error("no"); process.exit(3)'])).toEqual({
      ok: false,
      missing: false,
      text: 'no',
    });
    expect(await run('no-such-program-here', [])).toMatchObject({ ok: false, missing: true });
  });
});
