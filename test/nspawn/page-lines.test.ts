import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../needs.ts';
import { commandsOf } from '../tidy/page-commands.ts';
import { boot, type Machine } from './container.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const linesOf = (page: string, heading: string): string[] =>
  commandsOf(page, readFileSync(join(ROOT, page), 'utf8')).flatMap((one) =>
    one.heading === heading && one.words === null ? [one.line] : [],
  );

/** The example with what is an owner's own. Nothing listens at this broker. */
const FILLED_IN = JSON.stringify({
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtt://127.0.0.1:1' },
  lanes: [{ source: 'en', targets: ['es'], capture: { device: 'default' }, playback: { device: 'default' } }],
});

const debian = inject('debian');

describe(
  `the lines of pages, Debian ${debian.suite}${debian.missing === null ? '' : `: skipped, ${debian.missing}`}`,
  needs(debian.missing),
  () => {
    let machine: Machine;
    beforeAll(async () => {
      if (debian.missing !== null) return;
      machine = await boot(debian, [
        { from: debian.bundles, to: '/srv/dist' },
        ...['config', 'systemd'].map((folder) => ({ from: join(ROOT, folder), to: `/srv/${folder}` })),
      ]);
      // A new machine has nothing there.
      await machine.must(['umount', '/opt/dragoman']);
    });
    afterAll(() => machine?.stop());

    /** Runs a line in the folder of the checkout. @returns what it says */
    async function follow(line: string, codes = [0]): Promise<string> {
      // A person types the secret; a socket, as the machine gives it, cannot be opened by its name.
      const typed = line.includes('/dev/stdin') ? 'echo secret | ' : '';
      const { code, stdout, stderr } = await machine.run(['sh', '-c', `cd /srv && ${typed}${line}`]);
      const said = `${line}: ${code}\n${stdout}${stderr}`;
      expect(codes, said).toContain(code);
      return said;
    }

    it('install the agent without packages', async () => {
      const lines = linesOf('docs/install.md', 'By hand, without packages');
      expect(lines.length).toBeGreaterThan(8);
      for (const line of lines) {
        const said = await follow(line, line.includes(' doctor ') ? [0, 3] : [0]);
        if (line.includes('example.jsonc')) await machine.write('/etc/dragoman/config.json', FILLED_IN);
        if (line.includes('check-config')) expect(said).toContain('museum');
        if (line.includes('status')) expect(said).toContain('active (running)');
        if (line.includes('doctor')) expect(said).toContain('broker');
      }
    });

    it('install what may reboot the machine and set its clock', async () => {
      const lines = linesOf('docs/operate.md', 'Under systemd');
      expect(lines).toHaveLength(3);
      for (const line of lines) await follow(line);
      for (const unit of ['dragoman-reboot.path', 'dragoman-clock.path'])
        expect(await machine.must(['systemctl', 'is-active', unit])).toBe('active\n');
    });
  },
);
