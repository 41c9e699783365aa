import { afterAll, beforeAll, beforeEach, describe, inject, it, type TestContext } from 'vitest';
import { needs } from '../needs.ts';
import { boot, type Machine, type Shared } from './container.ts';
import { type Kiosk, openKiosk } from './kiosk.ts';

/** Defines a test with a kiosk in its installed state, with the agent stopped. */
export type KioskTest = (name: string, run: (kiosk: Kiosk, context: TestContext) => Promise<void>) => void;

interface Options {
  /** Why the tests cannot run here for another reason; null if they can. */
  readonly missing?: string | null;
  readonly shared?: readonly Shared[];
}

/** Declares tests in their own container of the project's Debian. Without one they are skipped with the reason. */
export function underSystemd(
  title: string,
  define: (test: KioskTest) => void,
  { missing = null, shared = [] }: Options = {},
): void {
  const debian = inject('debian');
  describe(`${title}, Debian ${debian.suite}`, () => {
    const reason = debian.missing ?? missing;
    let machine: Machine | undefined;
    let opened: Kiosk | undefined;

    beforeAll(async () => {
      if (reason !== null || debian.missing !== null) return;
      machine = await boot(debian, shared);
      opened = await openKiosk(machine);
    });
    afterAll(() => machine?.stop());
    beforeEach(async ({ onTestFailed }) => {
      onTestFailed(async () => void process.stderr.write((await opened?.lastWords()) ?? ''));
      await opened?.reset();
    });

    define((name, run) => {
      it(reason === null ? name : `${name}: skipped, ${reason}`, needs(reason), async (context) => {
        if (opened === undefined) throw new Error('there is no kiosk');
        await run(opened, context);
      });
    });
  });
}
