/**
 * Runs in a machine that lives in a time of its own: sets up the owner of a device beside it, then carries out what it is ordered and
 * tells what came of it. Words: the folder with the order, where to tell.
 */
import { openSync, readFileSync, writeSync } from 'node:fs';
import { watch } from '../../owner-client.ts';
import { DESK_ADDRESS, type Order, PORTS, type Report } from '../report.ts';
import { run, sh } from './commands.ts';
import { type Device, eventsOf, live } from './device.ts';
import type { Outcome } from './outcome.ts';
import { plugCable, startOwner } from './owner.ts';
import { scenarios } from './scenarios.ts';

const [goods = '', port = ''] = process.argv.slice(2);
const out = openSync(port, 'w');
const order: Order = JSON.parse(readFileSync(`${goods}/order.json`, 'utf8'));

function tell(report: Report): void {
  const line = Buffer.from(`${JSON.stringify(report)}\n`);
  for (let sent = 0; sent < line.length; ) sent += writeSync(out, line, sent);
}

const atS = (): number => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);

/** What the device has told since then, by `performance.now()`, and the end of the machine's journal. */
async function toldSince({ owner }: Device, sinceMs: number): Promise<string[]> {
  const told = owner.messages
    .filter(({ topic, atMs }) => atMs >= sinceMs && topic !== 'health')
    .map(
      ({ topic, text, atMs }) => `${((atMs - sinceMs) / 1000).toFixed(1)} s ${topic} ${text.slice(0, 400)}`,
    );
  const { said } = await run(['journalctl', '--no-pager', '-o', 'short-monotonic', '-n', '40']);
  return [...told.slice(-40), ...said.trimEnd().split('\n')];
}

tell({ kind: 'began', scenario: 'owner', atS: atS() });
await plugCable();
await sh(
  'cd /srv/goods; dpkg -i dragoman-backend_*.deb dragoman-emulator_*.deb; systemctl disable --now dragoman-backend',
);
await startOwner(order);
const owner = await watch(PORTS.people, `${order.folder}/logins/anna`, DESK_ADDRESS);
const device: Device = { owner, order, ask: (usb) => tell({ kind: 'asked', usb }) };
tell({ kind: 'ended', scenario: 'owner', atS: atS(), found: {}, sound: null, told: [], problem: null });
for (const scenario of order.scenarios) {
  tell({ kind: 'began', scenario, atS: atS() });
  const beganMs = performance.now();
  let outcome: Outcome = { found: {} };
  let problem: string | null = null;
  try {
    if (scenario !== 'installation') await live(device);
    outcome = await scenarios[scenario](device);
  } catch (error) {
    problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const { found, sound = null } = outcome;
  const endedS = atS();
  tell({
    kind: 'ended',
    scenario,
    atS: endedS,
    found: { ...found, fallbacks: eventsOf(device, 'echo_fallback', beganMs) },
    sound,
    told: await toldSince(device, beganMs),
    problem,
  });
}
