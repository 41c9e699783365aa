/** What the updater and the agent's unit do in an emulated machine, line by line on its console, which outlives a power cut. */
import type { UmlMachine } from './uml-machine.ts';

/** The folder of the program that has begun to run, or the state that the updater reports. */
export interface Step {
  readonly kind: 'runs' | 'state';
  readonly what: string;
  /** Since the machine was switched on (ms). */
  readonly atMs: number;
}

const LINE = /^@trail (\d+) (runs|state) (\S+)\r?$/gm;
const POLL_MS = 5;

/** Reads the complete lines of a console. */
export const stepsIn = (console: string): Step[] =>
  [...console.slice(0, console.lastIndexOf('\n') + 1).matchAll(LINE)].map(([, atMs, kind, what = '']) => ({
    kind: kind === 'runs' ? ('runs' as const) : ('state' as const),
    what,
    atMs: Number(atMs),
  }));

/** Waits until the steps since power-on are as wanted. */
export async function untilSteps<T>(
  { console }: Pick<UmlMachine, 'console'>,
  limitMs: number,
  wanted: (steps: readonly Step[]) => T | undefined,
): Promise<T> {
  for (const endsAt = performance.now() + limitMs; ; ) {
    const found = wanted(stepsIn(console()));
    if (found !== undefined) return found;
    if (performance.now() > endsAt) {
      const last = stepsIn(console()).map(({ kind, what }) => `${kind} ${what}`);
      throw new Error(`after ${limitMs / 1000} s still not: the next step after ${last.join(', ')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Writes each step to the console at once: it sees a program that runs for a tenth of a second. */
const WATCHER = `const { openSync, readFileSync, watch, writeSync } = require('node:fs');
const console = openSync('/dev/tty0', 'w');
const read = (path) => { try { return readFileSync(path, 'utf8'); } catch { return ''; } };
const tell = (words) => {
  const [up] = read('/proc/uptime').split(' ');
  writeSync(console, '\\n@trail ' + Math.round(up * 1000) + ' ' + words + '\\n');
};
let state = '';
const look = () => {
  const [, found = state] = /"state":"(\\w+)"/.exec(read('/run/dragoman-update/status.json')) ?? [];
  if (found !== state) tell('state ' + (state = found));
};
let isWatched = false;
let known = new Set();
setInterval(() => {
  try {
    if (!isWatched) watch('/run/dragoman-update', look);
    isWatched = true;
  } catch {}
  look();
  const pids = read('/sys/fs/cgroup/system.slice/dragoman.service/cgroup.procs').split('\\n');
  const running = new Set();
  for (const pid of pids) {
    const program = pid && read('/proc/' + pid + '/cmdline').split('\\0').find((word) => word.endsWith('/dragoman.mjs'));
    if (!program) continue;
    running.add(pid);
    if (!known.has(pid)) tell('runs ' + program.replace(/\\/dragoman\\.mjs$/, ''));
  }
  known = running;
}, 100);
`;
const WATCHER_UNIT = `[Unit]
After=local-fs.target
Before=dragoman-update.service dragoman.service
[Service]
ExecStart=/usr/bin/node /usr/local/lib/trail.cjs
Nice=-10
[Install]
WantedBy=multi-user.target
`;

/** Makes the machine write its steps, from its next start on and at once. */
export async function watchSteps(machine: UmlMachine): Promise<void> {
  await machine.write('/usr/local/lib/trail.cjs', WATCHER);
  await machine.write('/etc/systemd/system/trail.service', WATCHER_UNIT);
  await machine.sh('systemctl enable --quiet --now trail');
}
