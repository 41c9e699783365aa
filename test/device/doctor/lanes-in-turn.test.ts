import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { createLanesInTurn, type SoundParts } from '../../../src/device/doctor/lanes-in-turn.ts';
import { type Check, runChecks } from '../../../src/device/doctor/report/check.ts';
import type { AudioFault, CaptureSink, OpenCapture, OpenPlayback } from '../../../src/ports/audio.ts';
import { type Config, configSchema } from '../../../src/protocol/config.ts';
import type { Finding } from '../../../src/protocol/mqtt/diagnose.ts';
import { samplesOf, toPcm } from '../../../src/sound/pcm.ts';
import { createVirtualClock, type VirtualClock } from '../../virtual-clock.ts';

const RATE_HZ = 24_000;
const PIECE_MS = 80;

interface Room {
  /** From the loudspeaker to the microphone; null: no echo path. */
  readonly gain: number | null;
  readonly delayMs: number;
  /** Relative sample rate of the microphone. */
  readonly rateFactor?: number;
  readonly noise?: number;
  /** Noise gate of the microphone: it delivers zeros below this level, and opens 50 ms late. */
  readonly gate?: number;
  readonly sample?: (at: number) => number;
  readonly captureFault?: AudioFault;
  readonly playbackFault?: AudioFault;
  /** The loudspeaker reports late that it plays this much later than expected. */
  readonly measuredLateMs?: number;
}

/** A room with a microphone and a loudspeaker, in virtual time. */
function furnish(clock: VirtualClock, room: Room) {
  const next = seededRandom(3);
  const played: { at: number; samples: Int16Array }[] = [];
  const open = { capture: 0, playback: 0, most: 0 };
  const heardAt = (at: number): number => {
    if (room.gain === null) return 0;
    let sum = 0;
    for (const sound of played) {
      const place = Math.round(((at - room.delayMs - sound.at) * RATE_HZ) / 1000);
      sum += ((sound.samples[place] ?? 0) / 32_768) * room.gain;
    }
    return sum;
  };
  const openCapture: OpenCapture = async (sink: CaptureSink) => {
    open.capture += 1;
    if (room.captureFault !== undefined) sink.fault(room.captureFault);
    const startedAt = clock.now();
    let piece = 0;
    let cancel = (): void => {};
    const samples = Math.round((PIECE_MS * RATE_HZ) / 1000);
    const pieceMs = PIECE_MS / (room.rateFactor ?? 1);
    const deliver = (): void => {
      const end = startedAt + (piece + 1) * pieceMs;
      const sound = Float32Array.from({ length: samples }, (_, at) => {
        const moment = end - pieceMs + (at * pieceMs) / samples;
        if (room.sample !== undefined) return room.sample(piece * samples + at);
        const heard = heardAt(moment);
        const isOpen =
          room.gate === undefined ||
          Math.max(...[0, 10, 20, 30, 40, 50].map((ms) => Math.abs(heardAt(moment - ms)))) >= room.gate;
        return isOpen ? heard + (next() - 0.5) * (room.noise ?? 0.002) : 0;
      });
      piece += 1;
      sink.frames(toPcm(sound), end);
      cancel = clock.at(end + pieceMs, deliver);
    };
    if (room.captureFault === undefined) cancel = clock.at(startedAt + pieceMs, deliver);
    return {
      close: async () => {
        open.capture -= 1;
        cancel();
      },
    };
  };
  const openPlayback: OpenPlayback = async (sink) => {
    open.playback += 1;
    open.most = Math.max(open.most, open.playback);
    if (room.playbackFault !== undefined) sink.fault(room.playbackFault);
    return {
      mixer: null,
      write: (pcm) => {
        const due = clock.now() + 60;
        const at = due + (room.measuredLateMs ?? 0);
        const samples = samplesOf(pcm);
        played.push({ at, samples });
        if (room.measuredLateMs !== undefined)
          clock.at(clock.now() + 100, () => sink.measured(at + (samples.length * 1000) / RATE_HZ));
        return { from: due, until: due + (samples.length * 1000) / RATE_HZ };
      },
      flush: () => {},
      close: async () => {
        open.playback -= 1;
      },
    };
  };
  return { openCapture, openPlayback, played, open };
}

function makeConfig(lane: Record<string, unknown> = {}, lanes = 1): Config {
  return configSchema.parse({
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    lanes: Array.from({ length: lanes }, (_, index) => ({
      id: `lane-${index}`,
      source: 'en',
      targets: ['es'],
      capture: { device: 'plughw:CARD=Mic' },
      playback: { device: 'plughw:CARD=Speaker' },
      ...lane,
    })),
  });
}

/** The checks of sound; without the tone, only that of the microphone. */
function soundChecks(parts: SoundParts, config: Config): { checks: Check[]; close(): Promise<void> } {
  const { capture, playback, close } = createLanesInTurn(parts, config);
  const limitMs = 100_000;
  const checks: Check[] = [
    { name: 'capture', limitMs, run: capture },
    ...(parts.plays ? [{ name: 'playback' as const, limitMs, run: playback }] : []),
  ];
  return { checks, close };
}

async function examine(room: Room, config = makeConfig(), more: Partial<SoundParts> = {}) {
  const clock = createVirtualClock();
  const furniture = furnish(clock, room);
  const { checks, close } = soundChecks(
    {
      clock,
      openCapture: () => furniture.openCapture,
      openPlayback: () => furniture.openPlayback,
      agent: null,
      plays: true,
      holdersOf: () => [],
      ...more,
    },
    config,
  );
  let findings: Finding[] | null = null;
  void runChecks(checks, { clock }).then((found) => {
    findings = found;
  });
  for (let second = 0; second < 120 && findings === null; second++) await clock.elapse(1000);
  if (findings === null) throw new Error('the checks do not end');
  await close();
  const found: readonly Finding[] = findings;
  expect(furniture.open).toMatchObject({ capture: 0, playback: 0 });
  const of = (check: string): Finding => {
    const finding = found.find((one) => one.check === check);
    if (finding === undefined) throw new Error(`nothing about ${check}`);
    return finding;
  };
  return { findings: found, of, clock, ...furniture };
}

const fault = (code: AudioFault['code'], message: string): AudioFault => ({ code, message });

describe('the sound checks', () => {
  it('hear the tone, and report its delay and level', async () => {
    const { of } = await examine({ gain: 0.1, delayMs: 35 });
    expect(of('capture')).toMatchObject({ verdict: 'ok', data: { measured_hz: RATE_HZ } });
    expect(of('playback')).toMatchObject({ verdict: 'ok', data: { heard: true, advice: 'cancel' } });
    expect(Math.abs(Number(of('playback').data['delay_ms']) - 35)).toBeLessThanOrEqual(3);
    expect(Math.abs(Number(of('playback').data['gain_db']) + 20)).toBeLessThan(1);
  });

  it('never report a microphone with a noise gate as missing when it hears the tone', async () => {
    const { of, played } = await examine({ gain: 0.1, delayMs: 35, gate: 0.005 });
    expect(played).toHaveLength(1);
    expect(of('capture')).toMatchObject({
      verdict: 'warning',
      finding: expect.stringMatching(/^plughw:CARD=Mic hears the tone .* noise gate/),
    });
    expect(of('playback')).toMatchObject({ verdict: 'ok', data: { heard: true } });
    // Without a tone the result is unknown.
    const { of: quietly } = await examine({ gain: 0.1, delayMs: 35, gate: 0.005 }, makeConfig(), {
      plays: false,
    });
    expect(quietly('capture').finding).toMatch(/or its noise gate is closed$/);
    // A missing microphone does not hear the tone either.
    const { of: absent } = await examine({ gain: null, delayMs: 0, sample: () => 0 });
    expect(absent('capture')).toMatchObject({
      verdict: 'problem',
      finding: 'plughw:CARD=Mic delivers digital silence: it is muted, or nothing is plugged in',
    });
    expect(absent('playback')).toMatchObject({ verdict: 'warning', data: { heard: false } });
  });

  it('suspect no noise gate of a microphone that is only quiet, or of a recording', async () => {
    const quiet = await examine({ gain: 0.1, delayMs: 35, noise: 0.0003 });
    expect(quiet.of('capture').finding).not.toContain('noise gate');
    const recording = { capture: { driver: 'file', path: 'in.wav' } };
    const silent = await examine({ gain: null, delayMs: 0, sample: () => 0 }, makeConfig(recording));
    expect(silent.of('capture')).toMatchObject({
      verdict: 'ok',
      finding: expect.stringContaining('silence'),
    });
  });

  it('count from the real start of the loudspeaker once the device reports it', async () => {
    const { of } = await examine({ gain: 0.1, delayMs: 35, measuredLateMs: 240 });
    expect(Math.abs(Number(of('playback').data['delay_ms']) - 35)).toBeLessThanOrEqual(3);
  });

  it.each<[string, Room, Record<string, unknown>, Partial<Finding>]>([
    ['an open echo path', { gain: 0.3, delayMs: 50 }, { echo: 'off' }, { verdict: 'warning' }],
    ['an echo path too long for half-duplex', { gain: 0.3, delayMs: 520 }, {}, { verdict: 'warning' }],
    [
      'an echo too late to be cancelled',
      { gain: 0.3, delayMs: 520 },
      { echo: 'cancel' },
      { verdict: 'warning' },
    ],
    [
      'an echo later than a lane expects for its first sentence',
      { gain: 0.05, delayMs: 330 },
      {},
      { verdict: 'warning', finding: expect.stringMatching(/later than 300 ms, .* first chime/) },
    ],
    [
      'the same late echo with the canceller',
      { gain: 0.05, delayMs: 330 },
      { echo: 'cancel' },
      { verdict: 'warning', finding: expect.stringMatching(/later than 300 ms, .* first chime/) },
    ],
    ['an echo just in time', { gain: 0.05, delayMs: 280 }, {}, { verdict: 'ok' }],
    ['an echo that can be cancelled', { gain: 0.3, delayMs: 120 }, { echo: 'cancel' }, { verdict: 'ok' }],
    ['two devices far apart', { gain: null, delayMs: 0 }, {}, { verdict: 'warning' }],
  ])('judge %s by the mode of the lane', async (_, room, lane, expected) => {
    expect((await examine(room, makeConfig(lane))).of('playback')).toMatchObject(expected);
  });

  it('play at the volume of the lane, and play no tone at volume 0', async () => {
    const loud = await examine({ gain: 0.1, delayMs: 35 });
    const soft = await examine(
      { gain: 0.5, delayMs: 35 },
      makeConfig({ playback: { device: 'plughw:CARD=Speaker', volume: 50 } }),
    );
    const peak = ({ played }: typeof loud): number => Math.max(...(played[0]?.samples ?? []));
    expect(peak(soft) / peak(loud)).toBeCloseTo(1 / 8, 2);
    // The echo is compared with the played sound.
    expect(Math.abs(Number(soft.of('playback').data['gain_db']) + 6)).toBeLessThan(1);
    const mute = await examine(
      { gain: 0.5, delayMs: 35 },
      makeConfig({ playback: { device: 'plughw:CARD=Speaker', volume: 0 } }),
    );
    expect(mute.of('playback')).toMatchObject({ verdict: 'warning', fix: 'Set "volume" to 80.' });
  });

  it.each<[string, Room, Partial<Finding>]>([
    ['digital silence', { gain: null, delayMs: 0, sample: () => 0 }, { verdict: 'problem' }],
    ['clipping', { gain: null, delayMs: 0, sample: (at) => 3 * Math.sin(at / 9) }, { verdict: 'warning' }],
    ['a rate 1 % off', { gain: null, delayMs: 0, rateFactor: 1.01 }, { verdict: 'warning' }],
    ['a rate 10 % off', { gain: null, delayMs: 0, rateFactor: 1.1 }, { verdict: 'problem' }],
    ['a rate 0.03 % off', { gain: null, delayMs: 0, rateFactor: 1.0003 }, { verdict: 'ok' }],
    ['very little sound', { gain: null, delayMs: 0, noise: 0.0003 }, { verdict: 'warning' }],
    [
      'an offset',
      { gain: null, delayMs: 0, sample: (at) => 0.2 + 0.05 * Math.sin(at) },
      { verdict: 'warning' },
    ],
  ])('report a microphone that delivers %s', async (_, room, expected) => {
    const { of } = await examine(room, makeConfig(), { plays: false });
    expect(of('capture')).toMatchObject(expected);
  });

  it("report a failed microphone and a failed loudspeaker, with the driver's advice if it gives one", async () => {
    const { of } = await examine({
      gain: null,
      delayMs: 0,
      captureFault: fault('busy', 'plughw:CARD=Mic is in use by arecord'),
      playbackFault: fault('not_found', 'there is no device "plughw:CARD=Speaker"; plug it in'),
    });
    expect(of('capture')).toMatchObject({
      verdict: 'problem',
      finding: 'plughw:CARD=Mic is in use by arecord',
      fix: expect.stringContaining('dragoman devices'),
      data: { code: 'busy' },
    });
    expect(of('playback')).toMatchObject({
      verdict: 'problem',
      finding: 'there is no device "plughw:CARD=Speaker"',
      fix: 'Plug it in.',
    });
  });

  it.each([
    ['pipewire', 'systemctl --user mask --now pipewire.socket pipewire wireplumber'],
    ['pulseaudio', 'systemctl --user mask --now pulseaudio.socket pulseaudio'],
    ['mpd', 'End that program.'],
  ])('name %s when it holds the card, and the fix', async (program, fix) => {
    const busy = fault('busy', 'the capture device is in use by another program');
    const { of } = await examine(
      { gain: null, delayMs: 0, captureFault: busy, playbackFault: busy },
      makeConfig(),
      { holdersOf: (_, direction) => [{ pid: direction === 'capture' ? 812 : 900, program }] },
    );
    expect(of('capture')).toMatchObject({
      verdict: 'problem',
      finding: `plughw:CARD=Mic is held by ${program} (pid 812)`,
      fix: expect.stringContaining(fix),
    });
    expect(of('playback').finding).toBe(`plughw:CARD=Speaker is held by ${program} (pid 900)`);
  });

  it('report a microphone that delivers nothing, and one that does not open', async () => {
    const dead: OpenCapture = async () => ({ close: async () => {} });
    const config = makeConfig();
    const hung = await examine({ gain: null, delayMs: 0 }, config, { plays: false, openCapture: () => dead });
    expect(hung.of('capture')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('nothing'),
    });
    const broken = await examine({ gain: null, delayMs: 0 }, config, {
      plays: false,
      openCapture: () => {
        throw Object.assign(new Error('there is no such driver'), { code: 'not_found' });
      },
    });
    expect(broken.of('capture')).toMatchObject({ verdict: 'problem', data: { code: 'not_found' } });
  });

  it('skip devices that a running agent uses', async () => {
    const { findings, played, open } = await examine({ gain: 1, delayMs: 0 }, makeConfig(), { agent: 4711 });
    expect(findings.map(({ verdict }) => verdict)).toEqual(['skipped', 'skipped']);
    expect(findings[0]?.finding).toContain('4711');
    expect([played.length, open.most]).toEqual([0, 0]);
  });

  it('never write to a loudspeaker that is a file', async () => {
    const config = makeConfig({ playback: { driver: 'file', path: 'precious.wav' } });
    const { of, played } = await examine({ gain: 1, delayMs: 0 }, config);
    expect(of('playback')).toMatchObject({
      verdict: 'skipped',
      finding: expect.stringContaining('precious.wav'),
    });
    expect(played).toEqual([]);
  });

  it('run one lane after the other, so that no lane hears the tone of another', async () => {
    const { findings, played, open } = await examine({ gain: 0.1, delayMs: 20 }, makeConfig({}, 3));
    expect(findings.map(({ check, lane }) => `${check} ${lane}`)).toEqual([
      'capture lane-0',
      'capture lane-1',
      'capture lane-2',
      'playback lane-0',
      'playback lane-1',
      'playback lane-2',
    ]);
    expect(findings.every(({ verdict }) => verdict === 'ok')).toBe(true);
    expect(open.most).toBe(1);
    const starts = played.map(({ at }) => at);
    expect(starts).toHaveLength(3);
    expect(Math.min(...starts.slice(1).map((at, index) => at - (starts[index] ?? 0)))).toBeGreaterThan(2000);
  });

  it('close all devices when they are aborted', async () => {
    const clock = createVirtualClock();
    const furniture = furnish(clock, { gain: 0.1, delayMs: 20 });
    const { checks, close } = soundChecks(
      {
        clock,
        openCapture: () => furniture.openCapture,
        openPlayback: () => furniture.openPlayback,
        agent: null,
        plays: true,
        holdersOf: () => [],
      },
      makeConfig(),
    );
    const end = new AbortController();
    const running = runChecks(checks, { clock, abort: end.signal });
    await clock.elapse(2500);
    expect(furniture.open).toMatchObject({ capture: 1, playback: 1 });
    end.abort();
    expect((await running).map(({ check }) => check)).toEqual(['capture']);
    await close();
    expect(furniture.open).toMatchObject({ capture: 0, playback: 0 });
  });
});
