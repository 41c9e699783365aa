/**
 * Runs in a machine with virtual time: starts the owner's programs beside the device, runs the ordered scenarios and reports the
 * results. Arguments: the folder with the order, the file for reports.
 */
import { existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { watch } from '../../owner-client.ts';
import { DESK_ADDRESS, type Order, PORTS, type Report, type ScenarioName } from '../report.ts';
import { run, sh } from './commands.ts';
import { type Device, eventsOf, live, type Outcome, type Scenario } from './device.ts';
import { plugCable, startOwner } from './owner.ts';
import { afterCut, lastCut, sinceSwitchedOn } from './power.ts';
import { scenarios } from './scenarios.ts';

const [goods = '', port = ''] = process.argv.slice(2);
const out = openSync(port, 'w');
const order: Order = JSON.parse(readFileSync(`${goods}/order.json`, 'utf8'));

function tell(report: Report): void {
  const line = Buffer.from(`${JSON.stringify(report)}\n`);
  for (let sent = 0; sent < line.length; ) sent += writeSync(out, line, sent);
}

const BEGUN = `${goods}/begun`;
const cut = lastCut();
if (cut === null && existsSync(BEGUN)) throw new Error('the machine has started again by itself');
const atS = (): number => sinceSwitchedOn(cut);

/** Messages of the device since a time by `performance.now()`, and the end of the machine's journal. */
async function toldSince({ owner }: Device, sinceMs: number): Promise<string[]> {
  const told = owner.messages
    .filter(({ topic, atMs }) => atMs >= sinceMs && topic !== 'health')
    .map(
      ({ topic, text, atMs }) => `${((atMs - sinceMs) / 1000).toFixed(1)} s ${topic} ${text.slice(0, 400)}`,
    );
  const { said } = await run(['journalctl', '--no-pager', '-o', 'short-monotonic', '-n', '40']);
  return [...told.slice(-40), ...said.trimEnd().split('\n')];
}

async function startAll(): Promise<Device> {
  await plugCable();
  if (cut === null) {
    writeFileSync(BEGUN, '');
    await sh(
      'cd /srv/goods; dpkg -i dragoman-backend_*.deb dragoman-emulator_*.deb; systemctl disable --now dragoman-backend',
    );
  }
  await startOwner(order);
  return { owner: await watch(PORTS.people, `${order.folder}/logins/anna`, DESK_ADDRESS), order, tell };
}

async function carryOut(device: Device, scenario: ScenarioName, act: Scenario): Promise<void> {
  const beganMs = performance.now();
  let outcome: Outcome = { found: {} };
  let problem: string | null = null;
  try {
    outcome = await act(device);
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

if (cut === null) {
  tell({ kind: 'began', scenario: 'owner', atS: atS() });
  const device = await startAll();
  tell({ kind: 'ended', scenario: 'owner', atS: atS(), found: {}, sound: null, told: [], problem: null });
  for (const scenario of order.scenarios) {
    tell({ kind: 'began', scenario, atS: atS() });
    await carryOut(device, scenario, async () => {
      if (scenario !== 'installation') await live(device);
      return scenarios[scenario](device);
    });
  }
} else {
  await carryOut(await startAll(), 'power', (device) => afterCut(device, cut));
}
