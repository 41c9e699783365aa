import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { type Card, LOUDEST, openRack } from './card.ts';
import { cardNow, stallsWith, until } from './card-lane.ts';
import type { CardEvent, Side } from './card-side.ts';
import { babble, differsAt, findOnset } from './sound.ts';

const { rack, missing } = await openRack();
afterAll(() => rack?.close());

/** Stall of a loudspeaker (ms) that makes its echo late at the microphone. */
const LONG_STALL_MS = 100;
/** Buffer of 20 s of sound, longer than any stall. */
const LONG_BUFFER = 480_000;

/** A sample of four tones that swell and fade within half a second. */
function chord(ms: number): number {
  const fade = Math.min(ms, 500 - ms) / 20;
  if (fade <= 0) return 0;
  const tones = [311, 1009, 2473, 5407].map((hz) => Math.sin((2 * Math.PI * hz * ms) / 1000));
  const swell = fade >= 1 ? 1 : 0.5 - 0.5 * Math.cos(Math.PI * fade);
  return 3000 * swell * tones.reduce((sum, tone) => sum + tone, 0);
}

/** Tests the virtual card itself with the real programs, because the other tests rely on it. */
describe.concurrent(`virtual card${missing === null ? '' : `: skipped, ${missing}`}`, needs(missing), () => {
  it('delivers its sound bit-exactly, from the first start', async () => {
    const sound = babble(24_000, 1);
    const card = await insert({ id: 'Mic', capture: { sound } });
    const { output } = await arecord(card.device, ['-d', '1']).finished;
    expect(output).toEqual(bytesOf(sound));
    expect((await card.capture.log()).map(({ event }) => event)).toEqual(['open', 'start', 'stop', 'close']);
  });

  it('records the played sound bit-exactly, with its times', async () => {
    const sound = babble(12_000, 2);
    const card = await insert({ id: 'Speaker' });
    const first = await aplay(card.device, sound, WHOLE).finished;
    const pause = 300;
    await sleep(pause);
    const second = await aplay(card.device, sound, WHOLE).finished;
    expect([first.code, second.code]).toEqual([0, 0]);
    const timeline = await card.playback.sound();
    const again = findOnset(timeline, sound, 12_000);
    expect(differsAt(timeline.subarray(0, 12_000), sound)).toBe(-1);
    expect(differsAt(timeline.subarray(again, again + 12_000), sound)).toBe(-1);
    expect(again / 24).toBeGreaterThanOrEqual(500 + pause);
    // The log's time of the second start matches the timeline. If aplay stalled, there are further starts.
    const starts = (await card.playback.log()).filter(({ event }) => event === 'start');
    const begun = starts.find(({ frame }) => frame === again);
    const epoch = await card.playback.epoch();
    expect(begun).toBeDefined();
    expect(Math.abs((epoch?.atMs(again) ?? 0) - (begun?.atMs ?? 0))).toBeLessThan(1);
  });

  it('refuses formats like a simple USB card, and the plug plugin converts them', async () => {
    const sound = babble(48_000, 3);
    const card = await insert({
      id: 'Poor',
      rateHz: 48_000,
      channels: 2,
      capture: { sound, bufferMax: 4096 },
    });
    const raw = await arecord('hw:CARD=Poor', ['-d', '1']).finished;
    expect(raw).toMatchObject({ code: 1, errors: expect.stringContaining('Channels count non available') });
    const { output, code } = await arecord(card.device, ['-d', '1']).finished;
    expect(code).toBe(0);
    expect(output.byteLength).toBe(48_000);
  });

  it('has one user at a time', async () => {
    const card = await insert({ id: 'Busy' });
    const first = arecord(card.device, []);
    await first.heard;
    const second = await arecord(card.device, ['-d', '1']).finished;
    expect(second).toMatchObject({ code: 1, errors: expect.stringContaining('Device or resource busy') });
    first.child.kill('SIGKILL');
    await first.finished;
    expect((await arecord(card.device, ['-d', '1']).finished).code).toBe(0);
  });

  it('can be unplugged while its time continues', async () => {
    const sound = babble(240_000, 4);
    const card = await insert({ id: 'Loose', capture: { sound, loop: true } });
    const client = arecord(card.device, []);
    await client.heard;
    card.capture.control('unplug');
    expect(await client.finished).toMatchObject({
      errors: expect.stringContaining('read error: No such device'),
    });
    const gone = await arecord(card.device, ['-d', '1']).finished;
    expect(gone).toMatchObject({ code: 1, errors: expect.stringContaining('No such device') });
    card.capture.control();
    const { output } = await arecord(card.device, ['-d', '1']).finished;
    const starts = (await card.capture.log()).filter(({ event }) => event === 'start');
    const from = starts[1]?.frame ?? 0;
    expect(from).toBeGreaterThan(0);
    expect(output).toEqual(bytesOf(looped(sound, from, 24_000)));
  });

  it('hangs until SIGKILL', async () => {
    const card = await insert({ id: 'Hung' });
    const { child, heard, finished } = arecord(card.device, []);
    await heard;
    card.capture.control('stall');
    await until('the hang', async () => (await card.capture.log()).some(({ event }) => event === 'held'));
    child.kill('SIGTERM');
    await sleep(500);
    expect(child.exitCode ?? child.signalCode).toBeNull();
    child.kill('SIGKILL');
    await finished;
  });

  it('overruns and underruns a client that is too slow', async () => {
    const sound = babble(24_000, 5);
    const card = await insert({ id: 'Slow', capture: { sound, loop: true } });
    // Neither program ends by itself, even if the other one starts late.
    const recording = arecord(card.device, ['--buffer-size=4800'], []);
    const playing = aplay(card.device, null, ['--buffer-size=4800'], []);
    const feeding = feed(playing);
    const clients = [
      { ...recording, side: card.capture, word: 'overrun' },
      { ...playing, side: card.playback, word: 'underrun' },
    ];
    const starts = async (side: Side): Promise<CardEvent[]> =>
      (await side.log()).filter(({ event }) => event === 'start');
    await Promise.all(
      clients.map(async ({ child, side, word, complaints }) => {
        await until(`the start before an ${word}`, async () => (await starts(side)).length > 0);
        child.kill('SIGSTOP');
        const stoppedAt = cardNow();
        await sleep(500);
        child.kill('SIGCONT');
        await until(`the ${word}`, () => complaints().includes(word));
        const later = async () => (await starts(side)).filter(({ atMs }) => atMs > stoppedAt);
        await until(`the start after an ${word}`, async () => (await later()).length > 0);
      }),
    );
    // Both continue until the end.
    const said = recording.said();
    await until('more of the recording', () => recording.said() > said);
    feeding.end();
    expect((await playing.finished).code).toBe(0);
    recording.child.kill('SIGTERM');
    await recording.finished;
  });

  it('runs faster and slower as ordered', async () => {
    const card = await insert({ id: 'Wrong', capture: { ppm: 600_000 }, playback: { speed: 4 } });
    await Promise.all([
      arecord(card.device, ['-d', '1']).finished,
      aplay(card.device, babble(48_000, 6)).finished,
    ]);
    // Uses the card's log, because the programs need some time themselves.
    const [heard, sounded] = [await framesPerMs(card.capture), await framesPerMs(card.playback)];
    expect(heard).toBeGreaterThan(32);
    expect(heard).toBeLessThan(45);
    expect(sounded).toBeGreaterThan(70);
    expect(sounded).toBeLessThan(130);
  });

  it('captures its own loudspeaker, later and quieter', async ({ skip }) => {
    const stalls = watchStalls();
    const sound = Int16Array.from({ length: 12_000 }, (_, at) => Math.round(chord(at / 24)));
    const acoustic = { delayMs: 300, gainDb: -6 };
    const card = await insert({ id: 'Open', acoustic });
    const capturePipeline = arecord(card.device, []);
    await capturePipeline.heard;
    await aplay(card.device, sound, WHOLE).finished;
    const { startMs = 0 } = (await card.capture.epoch()) ?? {};
    const ended = cardNow();
    // The whole sound and its decay.
    await until('the echo', () => startMs + capturePipeline.said() / 48 > ended + acoustic.delayMs + 100);
    capturePipeline.child.kill('SIGKILL');
    const { output } = await capturePipeline.finished;
    const heard = new Int16Array(Uint8Array.from(output).buffer);
    const [mic, speaker] = [await card.capture.epoch(), await card.playback.epoch()];
    // The two sample clocks differ: captured samples lie between the played ones.
    const aheadMs = (mic?.startMs ?? 0) - (speaker?.startMs ?? 0) - 300;
    const due = Array.from(heard, (_, frame) => 10 ** (-6 / 20) * chord(frame / 24 + aheadMs));
    const off = due.map((sample, frame) => Math.abs(sample - (heard[frame] ?? 0)));
    // An error of a tenth of a sample would give several times this difference.
    const louder = due.filter((sample) => Math.abs(sample) > 500);
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () => {
      expect(louder.length).toBeGreaterThan(8000);
      expect(Math.max(...off)).toBeLessThan(40);
    });
  });

  it('has controls for amixer that change the played and captured sound', async () => {
    const sound = babble(40 * 24_000, 8);
    const knob = { volume: LOUDEST, on: true };
    const card = await insert({
      id: 'Mixed',
      capture: { sound, loop: true, control: { name: 'Mic' } },
      playback: { control: { name: 'Speaker', on: false } },
    });
    expect([card.capture.knob(), card.playback.knob()]).toEqual([knob, { ...knob, on: false }]);
    const first = await arecord(card.device, ['-d', '1']).finished;
    await amixer('Mixed', ['Mic', '12dB-']);
    await amixer('Mixed', ['Speaker', '6dB-', 'unmute']);
    expect(card.capture.knob()).toEqual({ volume: LOUDEST - 12, on: true });
    expect(card.playback.knob()).toEqual({ volume: LOUDEST - 6, on: true });
    const second = await arecord(card.device, ['-d', '1']).finished;
    const spoken = sound.subarray(0, 12_000);
    await aplay(card.device, spoken, WHOLE).finished;
    const by = (heard: Int16Array, gainDb: number) =>
      heard.map((sample) => Math.round(sample * 10 ** (gainDb / 20)));
    const from = (await card.capture.log()).findLast(({ event }) => event === 'start')?.frame ?? 0;
    const places = [
      differsAt(samplesIn(first.output), sound.subarray(0, 24_000)),
      differsAt(samplesIn(second.output), by(looped(sound, from, 24_000), -12)),
      differsAt((await card.playback.sound()).subarray(0, 12_000), by(spoken, -6)),
    ];
    expect(places).toEqual([-1, -1, -1]);
    await amixer('Mixed', ['Mic', 'nocap']);
    const deaf = await arecord(card.device, ['-d', '1']).finished;
    expect(deaf.output.some((byte) => byte !== 0)).toBe(false);
    card.playback.control('unplug');
    await expect(amixer('Mixed', ['Speaker', '50%'])).rejects.toThrow('No such device');
    const plain = await insert({ id: 'Plain' });
    expect([plain.capture.knob(), plain.playback.knob()]).toEqual([null, null]);
  });
});

const run = promisify(execFile);

/** Sets a card's simple control. */
async function amixer(id: string, words: string[]): Promise<void> {
  await run('amixer', ['-q', '-D', `hw:CARD=${id}`, 'sset', ...words], { env: rack?.env ?? {} });
}

function insert(options: Parameters<NonNullable<typeof rack>['insert']>[0]): Promise<Card> {
  if (rack === null) throw new Error('the virtual cards are missing');
  const { capture } = options;
  return rack.insert({ ...options, capture: { bufferMax: LONG_BUFFER, ...capture } });
}

/** Sound of a microphone from this frame, with its looped recording. */
function looped(sound: Int16Array, from: number, frames: number): Int16Array {
  return Int16Array.from({ length: frames }, (_, at) => sound[(from + at) % sound.length] ?? 0);
}

/** Writes sound repeatedly until `end`. */
function feed({ child }: Client): { end(): void } {
  const { stdin } = child;
  const sound = bytesOf(babble(24_000, 5));
  const write = (): void => {
    while (stdin?.writable === true && stdin.write(sound));
  };
  stdin?.on('drain', write);
  write();
  return {
    end() {
      stdin?.off('drain', write);
      stdin?.end();
    },
  };
}

async function framesPerMs(side: Side): Promise<number> {
  const log = await side.log();
  const start = log.find(({ event }) => event === 'start');
  const stop = log.find(({ event }) => event === 'stop');
  if (start === undefined || stop === undefined) throw new Error('the card did not run');
  return (stop.frame - start.frame) / (stop.atMs - start.atMs);
}

interface Client {
  readonly child: ChildProcess;
  /** Resolves with its first output. */
  readonly heard: Promise<unknown>;
  /** Number of bytes of its output so far. */
  said(): number;
  complaints(): string;
  readonly finished: Promise<{ code: number | null; output: Uint8Array<ArrayBuffer>; errors: string }>;
}

const SHAPE = ['-t', 'raw', '-f', 'S16_LE', '-r', '24000', '-c', '1'];

function arecord(device: string, more: string[], quiet = ['-q']): Client {
  return start('arecord', [
    ...quiet,
    '-D',
    device,
    ...SHAPE,
    '--period-size=480',
    `--buffer-size=${LONG_BUFFER}`,
    ...more,
  ]);
}

/** Half a second is buffered before the start, so that there is no underrun. */
const WHOLE = ['--period-size=12000', '--buffer-size=48000'];

/** @param sound null if it is written later */
function aplay(device: string, sound: Int16Array | null, more: string[] = [], quiet = ['-q']): Client {
  const words = [...quiet, '-D', device, ...SHAPE, '-R', '1', ...more];
  return start('aplay', words, sound === null ? null : bytesOf(sound));
}

/** @param input null if it is written later */
function start(program: string, args: string[], input: Uint8Array | null = new Uint8Array(0)): Client {
  const child = spawn(program, args, { env: rack?.env ?? {} });
  const output: Uint8Array[] = [];
  let errors = '';
  child.stdout.on('data', (piece: Uint8Array) => output.push(piece));
  child.stderr.on('data', (piece: Uint8Array) => {
    errors += Buffer.from(piece).toString();
  });
  // A program may end before it has read everything; its exit code shows that.
  child.stdin.on('error', () => {});
  if (input !== null) child.stdin.end(input);
  return {
    child,
    heard: once(child.stdout, 'data'),
    complaints: () => errors,
    said: () => output.reduce((sum, piece) => sum + piece.byteLength, 0),
    finished: once(child, 'close').then(([code]) => ({
      code: code as number | null,
      output: new Uint8Array(Buffer.concat(output)),
      errors,
    })),
  };
}

const samplesIn = (bytes: Uint8Array<ArrayBuffer>): Int16Array => new Int16Array(bytes.slice().buffer);

function bytesOf(sound: Int16Array): Uint8Array {
  return new Uint8Array(sound.slice().buffer);
}
