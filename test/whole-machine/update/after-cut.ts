/** What a power cut during an update has left, and what the device makes of it. */
import { expect } from 'vitest';
import { until } from '../../nspawn/kiosk.ts';
import { DAMAGED } from '../command-flood.ts';
import { NEXT_VERSION } from '../setup.ts';
import { stepsIn, untilSteps } from './trail.ts';
import type { UmlMachine } from './uml-machine.ts';

export const PACKAGE = '/usr/lib/dragoman';
const VERSIONS = '/var/lib/dragoman-update/versions';
export const NEW = `${VERSIONS}/${NEXT_VERSION}/usr/lib/dragoman`;
const FOUND = '/run/found';
const READY_LIMIT_MS = 240_000;
const WATCHER_LIMIT_MS = 60_000;

/** Before the updater and the agent may change anything. */
const FINDER = `exec >${FOUND}
cd /var/lib/dragoman-update || exit 0
echo "stage $(sed -nE 's/.*"stage":"([a-z_]+)".*/\\1/p' record.json)"
echo "link $(readlink current)"
for folder in versions/*; do
  [ -d "$folder" ] || continue
  case $folder in *.partial) echo "partial $folder"; continue ;; esac
  sums=$(cd "$folder/usr/lib/dragoman" && sha256sum --check --strict --status SHA256SUMS && sha256sum <SHA256SUMS)
  echo "version $folder \${sums%% *}"
done
`;
const FINDER_UNIT = `[Unit]
After=local-fs.target
Before=dragoman-update.service dragoman.service
[Service]
Type=oneshot
ExecStart=/bin/sh /usr/local/lib/found.sh
[Install]
WantedBy=multi-user.target
`;

/** Makes each start of the machine note first what is on its disk. */
export async function noteWhatIsFound(machine: UmlMachine): Promise<void> {
  await machine.write('/usr/local/lib/found.sh', FINDER);
  await machine.write('/etc/systemd/system/found.service', FINDER_UNIT);
  await machine.sh('systemctl enable --quiet found');
}

export interface AfterCut {
  /** The updater's record, its link and its folders before it started. */
  readonly onDisk: string;
  /** The first program that ran. */
  readonly ran: 'old' | 'new';
  readonly readyMs: number;
  /** The last update, in the words of `dragoman versions`. */
  readonly said: string;
}

/** Checks that a whole version runs after a cut, and that the device says how the update is. @param sums digest of the new version's list */
export async function survive(machine: UmlMachine, sums: string): Promise<AfterCut> {
  const onDisk = (await machine.read(FOUND)).toString().trim();
  // A name without ".partial" stands for a whole version.
  for (const [, folder, digest] of onDisk.matchAll(/^version (\S+) ?(\w*)$/gm))
    expect([folder, digest], onDisk).toEqual([`versions/${NEXT_VERSION}`, sums]);
  const readyMs = await ready(machine);
  // The watcher may start later than the agent.
  const ran = await untilSteps(machine, WATCHER_LIMIT_MS, (steps) => {
    const found = steps.filter(({ kind }) => kind === 'runs');
    return found.length > 0 ? found : undefined;
  });
  for (const { what } of ran) expect([PACKAGE, NEW]).toContain(what);
  if (ran[0]?.what === NEW) expect(onDisk).toContain(`version versions/${NEXT_VERSION} ${sums}`);
  const said =
    (await machine.must(['dragoman', 'versions'])).split('\n\n').at(-1)?.replaceAll(/\s+/g, ' ').trim() ?? '';
  expect(said).toMatch(/^Last update, from 1\.0\.0 to 1\.1\.0: [a-z ]+/);
  const journal = await machine.sh('journalctl -b -o cat --no-pager -u dragoman -u dragoman-update');
  expect(journal).not.toMatch(DAMAGED);
  expect(journal).not.toContain('damaged');
  return {
    onDisk: onDisk.replaceAll('\n', '; ').replaceAll(sums, 'is whole'),
    ran: ran[0]?.what === NEW ? 'new' : 'old',
    readyMs,
    said,
  };
}

/** Waits until the agent is ready, and connected to its broker. @returns the milliseconds */
export const ready = (machine: UmlMachine): Promise<number> =>
  until(
    'the agent is ready',
    async () => {
      const script = 'systemctl is-active dragoman && cat /run/dragoman/agent-*.json';
      const { code, stdout } = await machine.run(['sh', '-c', script]);
      return code === 0 && stdout.includes('"broker":true');
    },
    READY_LIMIT_MS,
  );

/** Waits until the new version stays, and expects nothing else in the updater's folder. */
export async function finish(machine: UmlMachine, sums: string, limitMs: number): Promise<void> {
  const end = await untilSteps(machine, limitMs, (steps) =>
    steps.find(({ kind, what }) => kind === 'state' && ['done', 'rolled_back', 'failed'].includes(what)),
  );
  const said = await machine.must(['dragoman', 'versions']);
  expect(end.what, said).toBe('done');
  expect(said).toMatch(/^1\.1\.0 +runs$/m);
  expect(stepsIn(machine.console()).findLast(({ kind }) => kind === 'runs')?.what).toBe(NEW);
  await until('half-made folders are removed', async () => {
    return (await machine.must(['ls', VERSIONS])).trim() === NEXT_VERSION;
  });
  expect(
    await machine.sh('cd "$1"; sha256sum --check --status SHA256SUMS; sha256sum <SHA256SUMS', NEW),
  ).toContain(sums);
}
