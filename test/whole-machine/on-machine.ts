import { afterAll, beforeAll, describe, inject, it, type TestContext } from 'vitest';
import {
  type Fixture,
  INSTALLED,
  install,
  live,
  openFixture,
  phaseOf,
  plugCards,
  SERVICE,
  statusOf,
  unpack,
} from './kiosk.ts';
import type { OwnerOptions } from './owner.ts';
import { excuse, isAboutTime, percent, TimingError, watchStrain } from './slowness.ts';

/** Default limit of a scenario (ms). */
const LIMIT_MS = 420_000;
/** Time by which a scenario ends before its test's limit (ms), to distinguish a slow machine from a hanging test. */
const EARLIER_MS = 30_000;

type Scenario = (fixture: Fixture, context: TestContext) => Promise<void>;
export interface Scenarios {
  /** Runs on a machine after its first boot, with the owner's files copied to it. */
  onNewMachine(name: string, run: Scenario): void;
  /** Runs on a device with a live agent: in the state of the scenario before, if that works. */
  onDevice(name: string, run: Scenario, limitMs?: number): void;
  /** Runs on a newly installed device whose agent is stopped. */
  onStoppedDevice(name: string, run: Scenario, limitMs?: number): void;
}

/**
 * Declares scenarios on one whole machine, which run one after the other. They are skipped with a reason if there can be no
 * machine, no time is left, or the host is too slow.
 */
export function onMachine(
  title: string,
  define: (scenarios: Scenarios) => void,
  owner: Partial<OwnerOptions> = {},
): void {
  const testbed = inject('testbed');
  describe(`${title}, Debian ${testbed.suite}`, () => {
    let fixture: Fixture | undefined;
    let usualProbeMs: number | undefined;
    let isInstalled = false;
    let hasFailed = true;
    /** Why no further scenario can run. */
    let isOver: string | null = null;

    beforeAll(async () => {
      if (testbed.missing !== null) return;
      fixture = await openFixture(testbed, owner).catch((error) => {
        if (!isAboutTime(error)) throw error;
        isOver = `this machine is too slow: ${(error as Error).message}`;
        return undefined;
      });
      if (fixture !== undefined) usualProbeMs = await tellSpeed(fixture);
    });
    afterAll(() => fixture?.close());

    const scenario = (
      name: string,
      prepare: (fixture: Fixture) => Promise<void>,
      run: Scenario,
      limitMs = LIMIT_MS,
    ): void => {
      const { missing } = testbed;
      const title = missing === null ? name : `${name}: skipped, ${missing}`;
      it.skipIf(missing !== null)(title, { timeout: limitMs }, async (context) => {
        if (testbed.missing === null && Date.now() > testbed.endsAt) isOver ??= 'no time is left for it';
        if (isOver !== null) return skip(context, name, isOver);
        if (fixture === undefined) throw new Error('there is no machine');
        const open = fixture;
        const strain = await watchStrain(open.machine, usualProbeMs);
        const act = async () => {
          await prepare(open);
          hasFailed = true;
          await run(open, context);
          hasFailed = false;
        };
        try {
          await within(act, limitMs - EARLIER_MS);
          await context.annotate(`QEMU waited ${percent(strain.waited())} of the processor time it needed`);
        } catch (error) {
          hasFailed = true;
          if (error instanceof TooLong) isOver = 'the scenario before it did not end';
          const reason = isAboutTime(error) ? excuse(await strain.measure()) : null;
          if (reason !== null) return skip(context, name, `${reason} (${String(error).slice(0, 1500)})`);
          process.stderr.write(await lastWords(open));
          throw error;
        }
      });
    };
    const reset = async (open: Fixture): Promise<void> => {
      if (isInstalled) {
        await open.machine.load(INSTALLED);
      } else {
        await open.machine.load('booted');
        await install(open);
        await open.machine.save(INSTALLED);
        isInstalled = true;
      }
      open.owner.forget();
    };
    define({
      onNewMachine(name, run) {
        const prepare = async (open: Fixture) => {
          await open.machine.load('booted');
          await unpack(open);
          await plugCards(open);
        };
        scenario(name, prepare, run);
      },
      onStoppedDevice: (name, run, limitMs) => scenario(name, reset, run, limitMs),
      onDevice(name, run, limitMs) {
        const prepare = async (open: Fixture) => {
          if (!hasFailed && phaseOf(open) === 'live') return;
          await reset(open);
          await open.machine.must(['systemctl', 'start', SERVICE]);
          await live(open);
        };
        scenario(name, prepare, run, limitMs);
      },
    });
  });
}

/** Measures the speed that `slowness.ts` compares with its limits. */
async function tellSpeed({ machine }: Fixture): Promise<number> {
  const { probeMs } = await (await watchStrain(machine)).measure();
  process.stderr.write(`a known computation takes ${Math.round(probeMs)} ms\n`);
  return probeMs;
}

/** Skips a test, and prints the reason, because some reports leave it out. */
function skip(context: TestContext, name: string, reason: string): void {
  process.stderr.write(`skipped: ${name}: ${reason}\n`);
  context.skip(reason);
}

class TooLong extends TimingError {}

async function within(act: () => Promise<void>, limitMs: number): Promise<void> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new TooLong(`it takes longer than ${limitMs / 1000} s`)), limitMs);
  });
  try {
    await Promise.race([act(), late]);
  } finally {
    clearTimeout(limit);
  }
}

/** Diagnostics for a failed scenario. */
async function lastWords(fixture: Fixture): Promise<string> {
  const { machine, owner } = fixture;
  const told = owner.messages.slice(-12).map(({ topic, text }) => `${topic} ${text.slice(0, 400)}`);
  const journal = await machine
    .sh('journalctl --no-pager -o short-precise -n 60; systemctl status --no-pager -l dragoman || true')
    .catch((error) => `${String(error)}\n${machine.console().slice(-2000)}`);
  return `${phaseOf(fixture)} ${statusOf(fixture)}\n${told.join('\n')}\n${journal}\n`;
}
