import { seededRandom } from '../../../src/core/random.ts';
import { type Fixture, inSeconds, live, SERVICE } from '../kiosk.ts';
import { onMachine } from '../on-machine.ts';
import { NEXT_VERSION } from '../setup.ts';
import { type AfterCut, finish, noteWhatIsFound, survive } from '../update/after-cut.ts';
import { MANIFEST, offerNextVersion, openRepository } from '../update/guest-repository.ts';
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
} from '../update/phases.ts';
import { type Step, untilSteps, watchSteps } from '../update/trail.ts';

/** Twenty power cuts in total: one in each phase of an update. */
const ROUNDS = 5;
const ROUND_LIMIT_MS = 1_500_000;
/** All times of the updater are shorter by this factor: the watch takes 2 minutes, and a start of the agent may take one. */
const FASTER = 5;
const WATCH_MS = 600_000 / FASTER;
const STEP_LIMIT_MS = 180_000;
/** Saved state of a device that can be ordered to update. */
const ORDERABLE = 'orderable';
const SEED = Number(process.env['DRAGOMAN_DEVICE_SEED']) || Math.floor(Math.random() * 2 ** 31);

/** Duration of each phase without a power cut (ms). */
type Lengths = ReadonlyMap<Phase, number>;

interface Rehearsal {
  readonly lengths: Lengths;
  /** Digest of the list of the new version's files. */
  readonly sums: string;
}

onMachine('an update', ({ onStoppedDevice }) => {
  let rehearsal: Rehearsal | undefined;
  for (let round = 1; round <= ROUNDS; round += 1)
    onStoppedDevice(
      `survives a power cut in each of its phases; round ${round} of ${ROUNDS}`,
      async (fixture, { annotate }) => {
        const { machine } = fixture;
        rehearsal ??= await prepare(fixture);
        const { lengths, sums } = rehearsal;
        const random = seededRandom(SEED + round);
        let from = await order(fixture);
        for (const phase of [DOWNLOAD, UNPACK, round % 2 === 1 ? LINK : RESTART, CONFIRMATION])
          for (let isLate = true; isLate; ) {
            const drawnMs = random() * (lengths.get(phase) ?? 0);
            const cut = await cutDuring(machine, phase, from, drawnMs);
            fixture.owner.forget();
            const after = await survive(fixture, sums);
            isLate = cut.isLate;
            const line = inWords(cut, lengths, after);
            process.stderr.write(`round ${round}: ${line}\n`);
            await annotate(`seed ${SEED}, round ${round}: ${line}`);
            if (isLate) from = await order(fixture);
            else {
              from = 0;
              await openRepository(machine);
            }
          }
        await finish(fixture, sums, WATCH_MS + STEP_LIMIT_MS);
      },
      ROUND_LIMIT_MS,
    );
});

function inWords({ phase, afterMs, isLate, bootMs }: PhaseCut, lengths: Lengths, after: AfterCut): string {
  const { name, part } = phase;
  return (
    `${name} ${part} ${isLate ? 'was over' : 'cut'} after ${inSeconds(afterMs)} of ${inSeconds(lengths.get(phase) ?? 0)}; ` +
    `on the disk: ${after.onDisk}; the ${after.ran} version ran, live ${inSeconds(bootMs + after.liveMs)} after the cut; "${after.said}"`
  );
}

/** Saves a device that can be ordered to update, and lets one update take place. */
async function prepare(fixture: Fixture): Promise<Rehearsal> {
  const { machine } = fixture;
  await machine.write('/etc/modules-load.d/cards.conf', 'snd-aloop\n');
  const options = 'options snd-aloop enable=1,1 index=-1,-1 id=Mic,Speaker pcm_substreams=1,1\n';
  await machine.write('/etc/modprobe.d/cards.conf', options);
  await machine.write(
    '/etc/systemd/system/dragoman-update.service.d/test.conf',
    `[Service]\nEnvironment=DRAGOMAN_UPDATE_FASTER=${FASTER}\n`,
  );
  await offerNextVersion(machine);
  await noteWhatIsFound(machine);
  await watchSteps(machine);
  const program = await machine.sh(
    'dpkg-deb -x "$1" /run/new; sha256sum </run/new/usr/lib/dragoman/SHA256SUMS; rm -r /run/new',
    `/srv/goods/next/dragoman_${NEXT_VERSION}_all.deb`,
  );
  await machine.sh(
    `systemctl daemon-reload; systemctl enable --quiet ${SERVICE}; systemctl start ${SERVICE}; sync`,
  );
  await live(fixture);
  await machine.save(ORDERABLE);
  const from = await order(fixture);
  const steps = await untilSteps(machine, from, STEP_LIMIT_MS, (all) =>
    findPhase(all, RESTART).end === undefined ? undefined : all,
  );
  const length = (phase: Phase): [Phase, number] => [phase, lengthOf(steps, phase)];
  const lengths = new Map([
    ...[DOWNLOAD, UNPACK, LINK, RESTART].map(length),
    [CONFIRMATION, WATCH_MS] as [Phase, number],
  ]);
  process.stderr.write(
    `without a power cut: ${[...lengths].map(([{ name, part }, ms]) => `${name} ${part} ${inSeconds(ms)}`).join(', ')}\n`,
  );
  return { lengths, sums: program.split(' ')[0] ?? '' };
}

function lengthOf(steps: readonly Step[], phase: Phase): number {
  const { first, end } = findPhase(steps, phase);
  if (first === undefined || end === undefined) throw new Error(`no ${phase.name} ${phase.part} was seen`);
  return end.atMs - first.atMs;
}

/** Orders the new version on the saved device. @returns where its steps begin on the console */
async function order({ machine, owner }: Fixture): Promise<number> {
  await machine.load(ORDERABLE);
  owner.forget();
  const from = machine.console().length;
  await openRepository(machine);
  await machine.must([
    'dragoman',
    'versions',
    '--order',
    NEXT_VERSION.replace(/-1$/, ''),
    '--from',
    MANIFEST,
  ]);
  return from;
}
