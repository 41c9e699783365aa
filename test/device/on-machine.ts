import { afterAll, beforeAll, describe, inject, it, type TestContext } from 'vitest';
import {
  type Bench,
  INSTALLED,
  install,
  live,
  openBench,
  phaseOf,
  plugCards,
  SERVICE,
  statusOf,
  unpack,
} from './kiosk.ts';
import type { OwnerOptions } from './owner.ts';

/** For one scenario, unless it says more. */
const LIMIT_MS = 420_000;

type Scenario = (bench: Bench, context: TestContext) => Promise<void>;
export interface Scenarios {
  /** On a machine that has just booted for the first time, with the owner's goods copied to it. */
  onNewMachine(name: string, run: Scenario): void;
  /** On a device whose agent interprets: as the scenario before has left it, if that works. */
  onDevice(name: string, run: Scenario, limitMs?: number): void;
  /** On a device as it was installed, whose agent is stopped. */
  onStoppedDevice(name: string, run: Scenario, limitMs?: number): void;
}

/** Scenarios on one whole machine, one after the other. Where there can be none they are skipped and say why. */
export function onMachine(
  title: string,
  define: (scenarios: Scenarios) => void,
  owner: Partial<OwnerOptions> = {},
): void {
  const workshop = inject('workshop');
  describe(`${title}, Debian ${workshop.suite}`, () => {
    let bench: Bench | undefined;
    let isInstalled = false;
    let hasFailed = true;

    beforeAll(async () => {
      if (workshop.missing === null) bench = await openBench(workshop, owner);
    });
    afterAll(() => bench?.close());

    const scenario = (
      name: string,
      prepare: (bench: Bench) => Promise<void>,
      run: Scenario,
      limitMs = LIMIT_MS,
    ): void => {
      const { missing } = workshop;
      const title = missing === null ? name : `${name}: skipped, ${missing}`;
      it.skipIf(missing !== null)(title, { timeout: limitMs }, async (context) => {
        if (bench === undefined) throw new Error('there is no machine');
        try {
          await prepare(bench);
          hasFailed = true;
          await run(bench, context);
          hasFailed = false;
        } catch (error) {
          process.stderr.write(await lastWords(bench));
          throw error;
        }
      });
    };
    const reset = async (open: Bench): Promise<void> => {
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
        const prepare = async (open: Bench) => {
          await open.machine.load('booted');
          await unpack(open);
          await plugCards(open);
        };
        scenario(name, prepare, run);
      },
      onStoppedDevice: (name, run, limitMs) => scenario(name, reset, run, limitMs),
      onDevice(name, run, limitMs) {
        const prepare = async (open: Bench) => {
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

/** What a failed scenario leaves for its reader. */
async function lastWords(bench: Bench): Promise<string> {
  const { machine, owner } = bench;
  const told = owner.messages.slice(-12).map(({ topic, text }) => `${topic} ${text.slice(0, 400)}`);
  const journal = await machine
    .sh('journalctl --no-pager -o short-precise -n 60; systemctl status --no-pager -l dragoman || true')
    .catch((error) => `${String(error)}\n${machine.console().slice(-2000)}`);
  return `${phaseOf(bench)} ${statusOf(bench)}\n${told.join('\n')}\n${journal}\n`;
}
