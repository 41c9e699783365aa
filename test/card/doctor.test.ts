import { afterAll, describe, it } from 'vitest';
import { openEnvironment } from '../../src/cli/demo/environment.ts';
import { createConsultation } from '../cli/doctor/consultation.ts';
import { inProcessPrograms } from '../e2e/in-process.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { type CardOptions, openRack } from './card.ts';
import { stallsWith } from './card-lane.ts';
import { babble } from './sound.ts';

const fixture = createConsultation();
const { rack, missing } = await openRack();
rack?.use();
afterAll(async () => {
  await rack?.close();
  fixture.close();
});

const title = `dragoman doctor at a virtual card${missing === null ? '' : `: skipped, ${missing}`}`;
const RATE_HZ = 24_000;
/** Stall that changes the tone by an underrun (ms). */
const LONG_STALL_MS = 100;
/** Quiet noise of a room, so that the microphone is never digitally silent. */
const MURMUR = babble(60 * RATE_HZ, 3).map((sample) => sample / 400);

/** Real time on a possibly busy machine: each tone is far from the limits of other verdicts. */
describe(title, needs(missing), () => {
  const examine = async (options: CardOptions, lane: Record<string, unknown> = {}) => {
    if (rack === null) throw new Error('the virtual cards are missing');
    const stalls = watchStalls();
    const card = await rack.insert(options);
    const { device } = card;
    const file = fixture.config(options.id, {
      lanes: [{ source: 'en', targets: ['es'], capture: { device }, playback: { device }, ...lane }],
    });
    const env = { ...process.env, ...rack?.env };
    return {
      stalls: stallsWith(stalls, card),
      ...(await fixture.examine(file, ['--only', 'capture', '--only', 'playback'], env)),
    };
  };

  it('measures delay and level of its own tone', async ({ expect, annotate, skip }) => {
    const { stalls, exitCode, of, printed } = await examine({
      id: 'Hall',
      capture: { sound: MURMUR },
      acoustic: { delayMs: 60, gainDb: -18 },
    });
    const { delay_ms, gain_db } = of('playback').data;
    await annotate(`an echo path of 60 ms at -18 dB was measured as ${delay_ms} ms at ${gain_db} dB`);
    judgeSound(skip, stalls, LONG_STALL_MS, () => {
      expect(exitCode, printed).toBe(0);
      expect(of('capture').verdict, printed).toBe('ok');
      expect(of('playback'), printed).toMatchObject({ verdict: 'ok', data: { heard: true } });
      expect(Math.abs(Number(gain_db) + 18)).toBeLessThan(3);
      expect(Number(delay_ms)).toBeLessThan(300);
    });
  });

  it('advises against "off" when the microphone captures the loudspeaker', async ({ expect, skip }) => {
    const { stalls, of, printed } = await examine(
      { id: 'Open', capture: { sound: MURMUR }, acoustic: { delayMs: 40, gainDb: -10 } },
      { echo: 'off' },
    );
    judgeSound(skip, stalls, LONG_STALL_MS, () => {
      expect(of('playback'), printed).toMatchObject({ verdict: 'warning' });
      expect(of('playback').fix).toMatch(/half-duplex/);
    });
  });

  it('does not find its tone when there is no echo path', async ({ expect, skip }) => {
    const { stalls, exitCode, of, printed } = await examine({ id: 'Apart', capture: { sound: MURMUR } });
    judgeSound(skip, stalls, LONG_STALL_MS, () => {
      expect(exitCode, printed).toBe(0);
      expect(of('playback'), printed).toMatchObject({ verdict: 'warning', data: { heard: false } });
    });
  });

  it('reports no problem of a working kiosk', async ({ expect, skip }) => {
    const stalls = watchStalls();
    if (rack === null) throw new Error('the virtual cards are missing');
    const card = await rack.insert({
      id: 'Whole',
      capture: { sound: MURMUR },
      acoustic: { delayMs: 40, gainDb: -20 },
    });
    const { device } = card;
    const environment = await openEnvironment(inProcessPrograms());
    try {
      const file = fixture.config('whole', {
        mqtt: { url: environment.brokerUrl },
        service: { hosts: [new URL(environment.serviceUrl).host] },
        lanes: [{ source: 'en', targets: ['es'], capture: { device }, playback: { device } }],
      });
      const { exitCode, diagnosis, printed } = await fixture.examine(file, [], rack?.env);
      const well = diagnosis.checks.filter(({ verdict }) => verdict === 'ok').map(({ check }) => check);
      const all = ['configuration', 'broker', 'backend', 'stream', 'clock', 'capture', 'playback'];
      judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () => {
        expect(exitCode, printed).toBe(0);
        expect(well).toEqual(expect.arrayContaining(all));
      });
    } finally {
      await environment.close();
    }
  });

  it('reports a muted microphone', async ({ expect, skip }) => {
    const { stalls, exitCode, of, printed } = await examine({ id: 'Muted' });
    judgeSound(skip, stalls, LONG_STALL_MS, () => {
      expect(exitCode).toBe(3);
      expect(of('capture').finding, printed).toMatch(/digital silence/);
    });
  });

  it('reports a missing device', async ({ expect }) => {
    const { exitCode, of } = await examine(
      { id: 'Here' },
      { capture: { device: 'plughw:CARD=Gone' }, playback: { device: 'plughw:CARD=Gone' } },
    );
    expect(exitCode).toBe(3);
    expect(of('capture')).toMatchObject({ verdict: 'problem' });
    expect(of('playback')).toMatchObject({ verdict: 'problem' });
  });
});
