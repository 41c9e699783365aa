import { describe, expect, it } from 'vitest';
import { type ReportDeps, runReport } from '../../src/installer/boot-report.ts';
import { readUnitStatus } from '../../src/installer/core/agent-state.ts';
import type { PhraseCode } from '../../src/installer/core/phrases.ts';
import { REPORT_SETTINGS, type StartState } from '../../src/installer/core/report-schedule.ts';
import type { StartFacts } from '../../src/installer/core/start-facts.ts';
import type { Said } from '../../src/installer/core/start-text.ts';
import { createVirtualClock } from '../virtual-clock.ts';

const NEWS = { code: 'applied', isBad: false, detail: '', isMissing: false } as const;
const SAYING_MS = 4000;
const SPEAKER: Said = { device: 'plughw:CARD=Speaker', trouble: null };
const BUSY: Said = { device: 'plughw:CARD=Speaker', trouble: 'busy' };

/** A kiosk's start in virtual time; `says` is the agent's status at a time (s). */
function start(says: (s: number) => string, saidBy: (s: number) => readonly Said[] = () => [SPEAKER]) {
  const clock = createVirtualClock(1000);
  const said: string[] = [];
  const written: { state: StartState; said: readonly Said[] | null }[] = [];
  const end = new AbortController();
  const later = (ms: number): Promise<void> =>
    new Promise((resolve) => void clock.at(clock.now() + ms, resolve));
  const world: ReportDeps = {
    clock,
    async look(): Promise<StartFacts> {
      await later(300);
      const unit = {
        LoadState: 'loaded',
        ActiveState: 'active',
        StatusText: says((clock.now() - 1000) / 1000),
      };
      return {
        agent: readUnitStatus(unit),
        interfaces: [],
        wifi: null,
        isClockSet: true,
        findings: [],
      };
    },
    async say(codes: readonly PhraseCode[]) {
      said.push(`${Math.round((clock.now() - 1000) / 1000)} ${codes.join(' ')}`);
      const by = saidBy((clock.now() - 1000) / 1000);
      await later(SAYING_MS);
      return by;
    },
    write: (state, where) => void written.push({ state, said: where }),
  };
  return { clock, said, written, end, ended: runReport(world, NEWS, REPORT_SETTINGS, end.signal) };
}

describe('the boot report', () => {
  it('watches until the kiosk is ready, announces it, writes the used loudspeaker to its file, and ends', async () => {
    const { clock, said, written, ended } = start((s) =>
      s < 30 ? 'degraded (no_broker): x' : 'ready: x; broker connected',
    );
    await clock.elapse(60_000);
    expect(await ended).toBe(true);
    expect(said).toEqual(['0 applied', expect.stringMatching(/^3\d ready$/)]);
    expect(written.at(-1)).toEqual({ state: { kind: 'ready' }, said: [SPEAKER] });
    expect(clock.armed).toBe(0);
  });

  it.each([
    ['is busy', [BUSY], 2],
    ['is busy beside a working one', [BUSY, SPEAKER], 1],
    ['is missing', [], 1],
  ] as const)('announces ready again when the loudspeaker %s only if that helps', async (_, by, times) => {
    const { clock, said, written, ended } = start(
      () => 'ready: x; broker connected',
      (s) => (s < 10 ? by : [SPEAKER]),
    );
    await clock.elapse(60_000);
    expect(await ended).toBe(true);
    expect(said.filter((one) => one.endsWith('ready'))).toHaveLength(times);
    expect(written.at(-1)?.said).toEqual(times === 2 ? [SPEAKER] : by);
  });

  it('ends after half an hour if the fault remains', async () => {
    const { clock, said, ended } = start(() => 'degraded (no_backend): x; broker connected');
    await clock.elapse(REPORT_SETTINGS.longestMs + 60_000);
    expect(await ended).toBe(false);
    expect(said).toHaveLength(2 + REPORT_SETTINGS.repeats);
  });

  it.each([0, 2000, 6000, 100_000])(
    'ends at once when stopped after %i ms, whatever it is doing',
    async (ms) => {
      const { clock, end, ended } = start(() => 'degraded (no_broker): x');
      await clock.elapse(ms);
      end.abort();
      expect(await ended).toBeNull();
    },
  );
});
