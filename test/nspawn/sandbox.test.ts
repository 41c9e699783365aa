import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { probe } from './probe.ts';
import { underSystemd } from './under-systemd.ts';

const AS_USER = ['setpriv', '--reuid=dragoman', '--regid=dragoman', '--init-groups'];

/** Actions that the agent's user may do without the unit but not under it. Each exits with 0 if it is allowed. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  'capset, of @privileged': 'setpriv --reset-env true',
  'ioprio_set, of @resources': 'ionice -c 3 true',
  'a namespace of its own': 'unshare --user true',
  'another personality': 'setarch --addr-no-randomize true',
  'a socket of another family': 'perl -e "socket(my \\$s, 40, 1, 0) or die"',
  'a set-user-id file': 'touch /tmp/probe && chmod u+s /tmp/probe',
  'to write outside of its folders': 'touch /srv/open/probe',
  'to see the processes of others': 'test -r /proc/1/stat',
};

/** Writable folders: shared memory of ALSA plugins and sound servers, and the unit's own folders. */
const WRITABLE = ['/dev/shm', '/run/dragoman', '/tmp', '/var/lib/dragoman', '/var/tmp'];
const MOST_EXPOSED = 1.6;
const UNITS = ['dragoman.service', 'dragoman-backend.service'];
const HELPERS = ['reboot', 'clock'].flatMap((name) => [`dragoman-${name}.service`, `dragoman-${name}.path`]);

underSystemd('sandbox of the unit', (test) => {
  for (const [what, script] of Object.entries(FORBIDDEN))
    test(`forbids ${what}`, async (kiosk) => {
      await kiosk.machine.must(['install', '-d', '-m', '777', '/srv/open']);
      const free = await kiosk.machine.run([...AS_USER, 'sh', '-c', script]);
      expect([free.code, free.stderr], 'without the unit').toEqual([0, '']);
      await kiosk.machine.must(['rm', '-f', '/srv/open/probe', '/tmp/probe']);
      expect(await probe(kiosk, script), 'under the unit').not.toBe('0');
    });

  test('passes systemd-analyze verify, as do the other units', async (kiosk) => {
    const words = ['systemd-analyze', 'verify', '--man=no', ...UNITS, ...HELPERS];
    expect(await kiosk.machine.run(words)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  for (const unit of UNITS)
    test(`has an exposure of at most 1.6 for ${unit}, which explains each exception`, async (kiosk, {
      annotate,
    }) => {
      const { must } = kiosk.machine;
      const place = `/etc/systemd/system/${unit}`;
      const words = ['systemd-analyze', 'security', '--offline=true', '--no-pager'];
      const score = Number(
        /Overall exposure level for \S+: ([\d.]+)/.exec(await must([...words, place]))?.[1],
      );
      await annotate(`${unit} ${score}`);
      expect(score).toBeLessThanOrEqual(MOST_EXPOSED);
      const rows = JSON.parse(await must([...words, '--json=short', place])) as SecurityRow[];
      const exceptions = rows.filter(({ exposure }) => Number(exposure) > 0).map(nameException);
      expect(exceptions.length).toBeGreaterThan(5);
      const comments = readFileSync(fileURLToPath(new URL(`../../systemd/${unit}`, import.meta.url)), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('#'))
        .join('\n');
      const explained = (name: string): boolean => new RegExp(`\\b${name}(, \\w+)*: `).test(comments);
      expect(exceptions.filter((name) => !explained(name))).toEqual([]);
    });

  test('leaves only few writable folders', async (kiosk) => {
    const script =
      'find / \\( -path /proc -o -path /sys \\) -prune -o -type d -writable -print >"$STATE_DIRECTORY/found" 2>/dev/null; true';
    expect(await probe(kiosk, script)).toBe('0');
    const found = await kiosk.machine.must(['cat', '/var/lib/dragoman/found']);
    expect(found.trim().split('\n').sort()).toEqual(WRITABLE);
  });

  test('allows a program like the agent', async (kiosk) => {
    // A sandbox that forbids everything would pass all tests above.
    const script =
      'node -e "require(\\"os\\").networkInterfaces(); new WebAssembly.Memory({initial: 1})" && touch "$STATE_DIRECTORY/x"';
    expect(await probe(kiosk, script)).toBe('0');
  });
});

interface SecurityRow {
  readonly name: string;
  readonly exposure: string | null;
}

/** "RestrictAddressFamilies=~AF_(INET|INET6)" is explained by the family, "ProcSubset=" by the setting. */
function nameException({ name }: SecurityRow): string {
  const family = /~AF_\W*(\w+)/.exec(name)?.[1];
  if (family !== undefined) return `AF_${family}`;
  return name.split('=')[0] ?? name;
}
