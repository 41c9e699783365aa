import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBundles } from '../../bundles.ts';
import { openRack } from '../../card/card.ts';
import { babble } from '../../card/sound.ts';
import { needs } from '../../needs.ts';

const { rack, missing } = await openRack();

const name = `devices --meter${missing === null ? '' : `: skipped, ${missing}`}`;
/** Runs the program with the real arecord, and a virtual card for each test. */
describe(name, { concurrent: true, ...needs(missing) }, () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-meter-'));
    await placeBundles(folder);
  });
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    await rack?.close();
  });

  const running = new Set<ChildProcessWithoutNullStreams>();
  const start = (...words: string[]): ChildProcessWithoutNullStreams => {
    const child = spawn(process.execPath, [join(folder, 'dragoman.mjs'), 'devices', ...words], {
      env: rack?.env,
    });
    running.add(child);
    child.on('close', () => running.delete(child));
    return child;
  };
  const insert = async (id: string, sound: Int16Array) => {
    const card = await rack?.insert({ id, capture: { sound, loop: true } });
    if (card === undefined) throw new Error('no rack');
    return card;
  };

  it('shows levels until Ctrl-C, then prints the summary and frees the card', async () => {
    const card = await insert('Talk', babble(48_000, 1));
    const meter = start('--meter', card.device);
    const output = collect(meter);
    await output.has(/\d s {2}rms .* dBFS/);
    meter.kill('SIGINT');
    const [code] = await once(meter, 'close');
    expect({ code, err: output.err }).toEqual({ code: 0, err: '' });
    expect(output.out).toMatch(/^Listening to plughw:CARD=Talk, until Ctrl-C\.\n/);
    expect(output.out).toMatch(/\nHeard [\d.]+ s of sound: rms -[\d.]+ dBFS, loudest peak/);
    // The next program can open it.
    const next = start('--meter', card.device, '--json');
    const lines = collect(next);
    await lines.has(/"rms_dbfs"/);
    next.kill('SIGINT');
    expect((await once(next, 'close'))[0]).toBe(0);
    expect(JSON.parse(lines.out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      summary: { digital_silence: false },
    });
  });

  it('recognises a muted microphone', async () => {
    const card = await insert('Muted', new Int16Array(24_000));
    const meter = start('--meter', card.device);
    const output = collect(meter);
    await output.has(/digital silence\n/);
    meter.kill('SIGINT');
    expect((await once(meter, 'close'))[0]).toBe(0);
    expect(output.out.replaceAll('\n', ' ')).toContain('all of it digital silence: the microphone is muted');
  });

  it('ends without a signal when the time is over', async () => {
    const card = await insert('Brief', babble(24_000, 4));
    const meter = start('--meter', card.device, '--seconds', '1');
    const output = collect(meter);
    expect((await once(meter, 'close'))[0]).toBe(0);
    expect(output.out).toMatch(/^Listening to plughw:CARD=Brief\.\n/);
  });

  it('ends with one sentence when the card does not exist or is in use', async () => {
    const gone = start('--meter', 'plughw:CARD=Gone');
    const words = collect(gone);
    expect((await once(gone, 'close'))[0]).toBe(1);
    expect(words.err).toMatch(
      /^dragoman: there is no capture device "plughw:CARD=Gone" \(ALSA: ".*"\); .*\.\n$/,
    );

    const card = await insert('Taken', babble(24_000, 2));
    card.capture.control('busy');
    const refused = start('--meter', card.device);
    const answer = collect(refused);
    expect((await once(refused, 'close'))[0]).toBe(1);
    expect(answer.err).toBe(
      'dragoman: the microphone "plughw:CARD=Taken" is in use by another program; end that program and try again.\n',
    );
  });

  it('reports an unplugged card and shows its level again when it returns', async () => {
    const card = await insert('Loose', babble(24_000, 3));
    const meter = start('--meter', card.device);
    const output = collect(meter);
    await output.has(/ s {2}rms/);
    card.capture.control('unplug');
    await output.has(
      /waiting for the microphone: the capture device "plughw:CARD=Loose"[\s\S]* s {2}no sound\n/,
    );
    const seen = output.out.length;
    card.capture.control();
    await output.has(/ s {2}rms/, seen);
    meter.kill('SIGTERM');
    expect((await once(meter, 'close'))[0]).toBe(0);
  });
});

function collect(child: ChildProcessWithoutNullStreams) {
  const output = {
    out: '',
    err: '',
    /** Resolves when the output after a position matches. */
    has: (pattern: RegExp, from = 0): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(output.out.slice(from))) resolve();
        };
        child.stdout.on('data', look);
        child.on('close', () => reject(new Error(`ended without ${pattern}: ${output.out}${output.err}`)));
        look();
      }),
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.err += text));
  return output;
}
