import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { needs } from '../../needs.ts';
import { DEVICE_CONFIG, MICROPHONE } from '../../nspawn/update-device.ts';
import { NEXT_VERSION, pack, ROOT, VERSION } from '../setup.ts';
import { type AfterCut, finish, noteWhatIsFound, ready, survive } from './after-cut.ts';
import { MANIFEST, offerNextVersion, openRepository, PACKAGE, signNextVersion } from './guest-repository.ts';
import {
  CONFIRMATION,
  cutDuring,
  DOWNLOAD,
  findPhase,
  LINK,
  type Phase,
  type PhaseCut,
  RESTART,
  UNPACK,
} from './phases.ts';
import { type Step, untilSteps, watchSteps } from './trail.ts';
import { prepareDisk, switchOnUml, type UmlMachine, whatUmlLacks } from './uml-machine.ts';

/** Twenty power cuts in total: one in each phase of an update. */
const ROUNDS = 5;
const ROUND_LIMIT_MS = 1_200_000;
/** All times of the updater are shorter by this factor: the watch takes 75 s, and a start of the agent may take 37 s. */
const FASTER = 8;
const WATCH_MS = 600_000 / FASTER;
const STEP_LIMIT_MS = 180_000;
const SEED = Number(process.env['DRAGOMAN_DEVICE_SEED']) || Math.floor(Math.random() * 2 ** 31);

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 1000 ? 3 : 1)} s`;
/** Duration of each phase without a power cut (ms). */
type Lengths = ReadonlyMap<Phase, number>;

const missing = whatUmlLacks();

describe(`an update${missing === null ? '' : `: skipped, ${missing}`}`, needs(missing), () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-update-cuts-'));
  /** The disk of a device that can be ordered to update. */
  const orderable = join(folder, 'orderable.img');
  let machine: UmlMachine;
  let sums = '';
  let lengths: Lengths = new Map();

  beforeAll(async () => {
    const image = execFileSync('scripts/device-image.sh', ['trixie', 'amd64'], { cwd: ROOT })
      .toString()
      .trim();
    const parcel = await pack(folder, 'amd64', signNextVersion);
    sums = digestOfList(folder);
    const disk = prepareDisk(folder, join(image, 'root.img'));
    machine = await switchOnUml(folder, disk, parcel);
    await install(machine);
    await machine.must(['sync']);
    copyFileSync(disk, orderable);
    lengths = await rehearse();
  }, ROUND_LIMIT_MS);
  afterAll(async () => {
    await machine?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Orders the new version on a device that has the installed one. */
  const order = async (): Promise<void> => {
    await machine.cutPower(orderable);
    await ready(machine);
    await openRepository(machine);
    const version = NEXT_VERSION.replace(/-1$/, '');
    await machine.must(['dragoman', 'versions', '--order', version, '--from', MANIFEST]);
  };
  const rehearse = async (): Promise<Lengths> => {
    await order();
    const steps = await untilSteps(machine, STEP_LIMIT_MS, (all) =>
      findPhase(all, RESTART).end === undefined ? undefined : all,
    );
    const phases = [DOWNLOAD, UNPACK, LINK, RESTART].map((phase) => [phase, lengthOf(steps, phase)] as const);
    const found = new Map([...phases, [CONFIRMATION, WATCH_MS] as const]);
    const told = [...found].map(([{ name, part }, ms]) => `${name} ${part} ${inSeconds(ms)}`).join(', ');
    process.stderr.write(`seed ${SEED}; without a power cut: ${told}\n`);
    return found;
  };

  for (let round = 1; round <= ROUNDS; round += 1)
    it(
      `survives a power cut in each of its phases; round ${round} of ${ROUNDS}`,
      async ({ annotate }) => {
        const random = seededRandom(SEED + round);
        await order();
        for (const phase of [DOWNLOAD, UNPACK, round % 2 === 1 ? LINK : RESTART, CONFIRMATION])
          for (let isLate = true; isLate; ) {
            const cut = await cutDuring(machine, phase, random() * (lengths.get(phase) ?? 0));
            const after = await survive(machine, sums);
            const line = `seed ${SEED}, round ${round}: ${inWords(cut, lengths, after)}`;
            process.stderr.write(`${line}\n`);
            await annotate(line);
            isLate = cut.isLate;
            await (isLate ? order() : openRepository(machine));
          }
        await finish(machine, sums, WATCH_MS + STEP_LIMIT_MS);
      },
      ROUND_LIMIT_MS,
    );
});

/** Installs and configures the device, and what watches it. */
async function install(machine: UmlMachine): Promise<void> {
  const agent = `./dragoman_${VERSION}_all.deb`;
  await machine.sh('mkdir -p /srv/goods; tar -xf /dev/ubdb -C /srv/goods "$1" ./repository ./key.gpg', agent);
  await machine.write('/usr/local/lib/microphone.cjs', MICROPHONE);
  await machine.write('/etc/mosquitto/conf.d/kiosk.conf', 'listener 1883 127.0.0.1\nallow_anonymous true\n');
  await machine.sh('systemctl unmask mosquitto; systemctl enable --quiet --now mosquitto');
  await machine.must(['dpkg', '-i', `/srv/goods/${agent}`], '', STEP_LIMIT_MS);
  await machine.write(
    '/etc/systemd/system/dragoman-update.service.d/test.conf',
    `[Service]\nEnvironment=DRAGOMAN_UPDATE_FASTER=${FASTER}\n`,
  );
  await machine.write('/etc/dragoman/config.json', JSON.stringify(DEVICE_CONFIG));
  await machine.sh('systemctl daemon-reload; systemctl enable --quiet dragoman; systemctl restart dragoman');
  await offerNextVersion(machine);
  await noteWhatIsFound(machine);
  await watchSteps(machine);
  await ready(machine);
}

/** Digest of the list of the new version's files. */
function digestOfList(folder: string): string {
  const script = 'dpkg-deb --fsys-tarfile "$1" | tar -xO ./usr/lib/dragoman/SHA256SUMS | sha256sum';
  const said = execFileSync('sh', ['-ec', script, 'sh', join(folder, 'goods/next', PACKAGE)]).toString();
  return said.split(' ')[0] ?? '';
}

function lengthOf(steps: readonly Step[], phase: Phase): number {
  const { first, end } = findPhase(steps, phase);
  if (first === undefined || end === undefined) throw new Error(`no ${phase.name} ${phase.part} was seen`);
  return end.atMs - first.atMs;
}

function inWords({ phase, afterMs, isLate, bootMs }: PhaseCut, lengths: Lengths, after: AfterCut): string {
  const { name, part } = phase;
  return (
    `${name} ${part} ${isLate ? 'was over' : 'cut'} after ${inSeconds(afterMs)} of ${inSeconds(lengths.get(phase) ?? 0)}; ` +
    `on the disk: ${after.onDisk}; the ${after.ran} version ran, ready ${inSeconds(bootMs + after.readyMs)} after the cut; "${after.said}"`
  );
}
