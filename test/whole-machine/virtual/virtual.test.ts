import { afterAll, beforeAll, describe, expect, inject, it, type TestContext } from 'vitest';
import { samplesOf } from '../../../src/sound/pcm.ts';
import { needs } from '../../needs.ts';
import { until } from '../../nspawn/kiosk.ts';
import { inWords } from '../kiosk.ts';
import { NEXT_VERSION, VERSION } from '../setup.ts';
import { type Judgement, judge, TONE_MS } from '../tones.ts';
import { switchOnVirtual, type VirtualMachine } from './machine.ts';
import { type CutOutcome, cutsInWords, outcomesOfCuts } from './power-cuts.ts';
import { type Report, SCENARIOS, type ScenarioName } from './report.ts';

const testbed = inject('virtualTestbed');
/** Limit in the host's time (ms); only a hang exceeds it. */
const LIMIT_MS = 7_200_000;
/**
 * Most silence in the sound (ms): less than one chunk. An echoing service has no lead. If its second chunk is late, the agent waits for
 * up to 120 ms more, because one gap is better than many. That delays the sound, but nothing is lost.
 */
const MOST_SILENT_MS = 320;
/** Upper limit of the speed at which delayed sound is played. */
const MOST_HASTE = 1.05;

interface Outcome {
  readonly found: Readonly<Record<string, unknown>>;
  readonly heard: Judgement;
  /** Judgements of the USB loudspeaker's pieces. */
  readonly usb: readonly Judgement[];
  readonly cuts: readonly CutOutcome[];
}

/** Title and expectations of each scenario. */
const SCENARIO_TESTS: Readonly<
  Record<ScenarioName, { readonly title: string; check(outcome: Outcome): void }>
> = {
  installation: {
    title: 'installs and interprets by the lines of docs/install.md',
    check({ found }) {
      const typed = found['typed'] as { line: string; code: number; said: string }[];
      expect(found['version']).toBe(VERSION);
      for (const { line, code, said } of typed) {
        const what = `${line}: ${code}\n${said}`;
        expect(line.includes('doctor') ? [0, 3] : [0], what).toContain(code);
        if (line.includes('devices')) expect(what).toMatch(/plughw:CARD=Mic[\s\S]*plughw:CARD=Speaker/);
        if (line.includes('check-config')) expect(what).toContain('museum');
        if (line.includes('systemctl status')) expect(what).toContain('active (running)');
        if (line.includes('doctor'))
          for (const part of ['broker', 'stream', 'capture']) expect(what).toContain(part);
      }
    },
  },
  recording: {
    title: 'interprets a recording through the kernel’s sound cards',
    check({ found, heard }) {
      expectWhole(heard, 30);
      expect(found['lost']).toEqual([]);
      expect(Math.abs(heard.levelDbfs - -15.3)).toBeLessThan(0.2);
    },
  },
  'network-8s': {
    title: 'continues when its network is cut for 8 s',
    check({ found, heard }) {
      expect(found['lost']).toEqual([]);
      expectWaited(heard);
      expect(heard.gap.ms).toBeLessThan(10_000);
    },
  },
  broker: {
    title: 'continues when the broker restarts',
    check: ({ heard }) => expectWhole(heard, 20),
  },
  microphone: {
    title: 'continues when its microphone is unplugged and returns',
    check({ found, heard }) {
      expect(found).toMatchObject({ reasons: [expect.stringMatching(/^capture:/)], hasMoved: true });
      expect(found['told']).toEqual([1, 1]);
      expectWhole(heard, 8);
    },
  },
  crashes: {
    title: 'survives ten crashes in ten seconds',
    check(outcome) {
      expect(Number(outcome.found['tookS'])).toBeLessThan(10);
      expectRestarts(outcome);
    },
  },
  'full-disk': {
    title: 'continues with a full disk',
    check({ found, heard }) {
      expect(found).toMatchObject({ available: '0', command: 'ok' });
      expectWhole(heard, 5);
    },
  },
  clock: {
    title: 'waits when its clock is 20 years behind, and continues after a jump',
    check({ found, heard }) {
      expect(found).toMatchObject({ phase: 'none', isClockTold: true, isSame: true });
      expectWhole(heard, 5);
    },
  },
  'network-3min': {
    title: 'reports the lost speech when its network is cut for three minutes',
    check({ found, heard }) {
      expect(Number(found['toldS'])).toBeGreaterThan(50);
      expect(Number(found['toldS'])).toBeLessThan(60);
      expectWhole(heard, 10);
    },
  },
  killed: {
    title: 'interprets again after its agent was killed',
    check: ({ heard }) => expectWhole(heard, 8),
  },
  upgrade: {
    title: 'continues with the new version when it is upgraded during speech',
    check({ found, heard }) {
      expect(found).toMatchObject({ version: NEXT_VERSION, isConfigurationKept: true });
      expect(heard.gap.before).toBeGreaterThan(10);
      expect(heard.gap.after).toBeGreaterThan(10);
    },
  },
  hung: {
    title: 'is ended by the watchdog when it hangs',
    check({ found, heard }) {
      expect(Number(found['anotherS'])).toBeLessThan(100);
      expectWhole(heard, 5);
    },
  },
  'crashes-with-pause': {
    title: 'survives ten crashes with the pauses of its unit',
    check: expectRestarts,
  },
  'memory-bound': {
    title: 'restarts when its unit reaches its memory limit',
    check({ found, heard }) {
      expect(found).toMatchObject({ bound: String(440 * 2 ** 20), isSame: false });
      expectWhole(heard, 5);
    },
  },
  'read-only': {
    title: 'continues, and starts again, with a read-only disk',
    check({ found, heard }) {
      expect(found).toMatchObject({ isRefused: true, command: 'ok' });
      expectWhole(heard, 5);
    },
  },
  'usb-loudspeaker': {
    title: 'continues when its USB loudspeaker is unplugged during speech and returns',
    check({ found, usb }) {
      expect(found).toMatchObject({ reasons: [expect.stringMatching(/^playback:/)], isSame: true });
      expect(found['told']).toEqual([['playback'], ['playback']]);
      const [before, waited, after] = usb;
      if (before === undefined || waited === undefined || after === undefined)
        throw new Error(`of three pieces there are ${usb.length}`);
      // Unplugged 12 s after the start of speech.
      expectWhole(before, 8);
      expectWaited(waited);
      // Of 30 s, only the sound in the card's buffer is lost.
      const said = [before, waited].reduce((sum, { tones, missing }) => sum + tones.length + missing, 0);
      expect(said * TONE_MS).toBeGreaterThan(29_000);
      expectWhole(after, 12);
    },
  },
  power: {
    title: 'remembers each answered command when its power is cut while state is written',
    check({ found, cuts }) {
      expect(cuts.length).toBe(found['cuts']);
      expect(cuts.length).toBeGreaterThan(0);
      for (const { answered, forgotten, after } of cuts) {
        expect(answered).toBeGreaterThan(0);
        expect(forgotten).toEqual([]);
        // systemd restarted nothing: only the power cut ended the agent.
        expect(after).toMatchObject({ isDoneTwice: false, damage: [], restarts: 0 });
      }
    },
  },
};

function expectRestarts({ found, heard }: Outcome): void {
  expect(found['restarts']).toBe(10);
  expectWhole(heard, 5);
}

/** Expects delayed sound: its pitch is higher, so that tones are unclear, and that many missing tones are not a loss. */
function expectWaited(heard: Judgement): void {
  expect(heard.outOfOrder, inWords(heard)).toBe(0);
  expect(heard.missing, inWords(heard)).toBeLessThanOrEqual((MOST_HASTE * heard.unclearMs) / TONE_MS);
}

/** Expects whole tones of this length. */
function expectWhole(heard: Judgement, lengthS: number): void {
  expect(heard, inWords(heard)).toMatchObject({ missing: 0, outOfOrder: 0 });
  expect(heard.silentMs, inWords(heard)).toBeLessThanOrEqual(MOST_SILENT_MS);
  expect(heard.tones.length).toBeGreaterThanOrEqual(Math.floor((lengthS * 1000) / TONE_MS));
  expect(heard.unclearMs, inWords(heard)).toBeLessThanOrEqual(100);
}

const TITLE = `a device in the machine’s own time${testbed.missing === null ? '' : `: skipped, ${testbed.missing}`}`;

/**
 * One machine with virtual time that contains all peers of the device. It runs the ordered scenarios by itself; this test waits and
 * judges. The host only affects the duration, so no failure is excused.
 */
describe(TITLE, needs(testbed.missing), () => {
  let machine: VirtualMachine | undefined;

  beforeAll(async () => {
    if (testbed.missing !== null) return;
    machine = await switchOnVirtual({ ...testbed.hardware, lifeLimitMs: LIMIT_MS });
  });
  afterAll(() => machine?.stop());

  const reports = (): readonly Report[] => machine?.reports() ?? [];

  /** Outcome of a scenario; null if there was no time to start it. */
  async function outcomeOf(
    name: string,
  ): Promise<{ ended: Extract<Report, { kind: 'ended' }>; tookS: number } | null> {
    const find = <K extends 'began' | 'ended'>(kind: K) =>
      reports().find(
        (report): report is Extract<Report, { kind: K }> => report.kind === kind && report.scenario === name,
      );
    // The machine runs all scenarios without asking; after the end of the time, unfinished ones are not awaited.
    if (testbed.missing === null && Date.now() > testbed.endsAt && find('ended') === undefined) return null;
    await until(
      `the scenario ${name} has ended`,
      async () => find('ended') !== undefined || machine?.hasEnded() !== false,
      LIMIT_MS,
    );
    const [began, ended] = [find('began'), find('ended')];
    if (ended !== undefined) return { ended, tookS: ended.atS - (began?.atS ?? 0) };
    throw new Error(`the machine has ended; its console: ${machine?.console().slice(-2000)}`);
  }

  it('starts with broker, backend and service beside it', { timeout: LIMIT_MS }, async ({ annotate }) => {
    const outcome = await outcomeOf('owner');
    expect(outcome?.ended.problem).toBeNull();
    await annotate(`there after ${outcome?.ended.atS.toFixed(1)} s of its own time`);
  });

  for (const name of testbed.missing === null ? testbed.scenarios : SCENARIOS) {
    const { title, check } = SCENARIO_TESTS[name];
    it(title, { timeout: LIMIT_MS }, async (context: TestContext) => {
      const startedAt = Date.now();
      const outcome = await outcomeOf(name);
      if (outcome === null) {
        process.stderr.write(`skipped: ${title}: no time is left for it\n`);
        return context.skip('no time is left for it');
      }
      const { found, sound, told, problem } = outcome.ended;
      if (problem !== null) throw new Error([problem, ...told].join('\n'));
      const heard = judge(samplesOf(Buffer.from(sound ?? '', 'base64')));
      const usb = (name === 'usb-loudspeaker' ? (machine?.usbPieces() ?? []) : []).map(judge);
      const cuts = name === 'power' ? outcomesOfCuts(reports()) : [];
      const words = cuts.length > 0 ? [cutsInWords(cuts)] : (sound === null ? usb : [heard]).map(inWords);
      const { typed: _, ...figures } = found;
      await context.annotate(
        `${outcome.tookS.toFixed(1)} s of its own time, ${((Date.now() - startedAt) / 1000).toFixed(0)} s of ours: ` +
          [JSON.stringify(figures), ...words].join('; '),
      );
      try {
        // Its loudspeaker does not reach its microphone: it must not fall back to half-duplex.
        expect(found['fallbacks']).toEqual([]);
        check({ found, heard, usb, cuts });
      } catch (error) {
        process.stderr.write(`${title}:\n${told.join('\n')}\n`);
        throw error;
      }
    });
  }
});
