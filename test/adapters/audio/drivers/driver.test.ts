import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCapture, createPlayback } from '../../../../src/adapters/audio/drivers/driver.ts';
import { describeFileProblem } from '../../../../src/adapters/audio/fault.ts';
import { ownHeader } from '../../../../src/adapters/audio/own-wav.ts';
import { makeHeader } from '../../../../src/adapters/audio/wav.ts';
import { checkWritable } from '../../../../src/adapters/audio/wav-writer.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';
import { makeFolder, makeNumbered, makeWav, writeTemp } from '../wav-files.ts';

const clock = createVirtualClock();

describe('audio driver', () => {
  it('opens the configured files', async () => {
    const path = writeTemp(makeWav({ rateHz: 16_000, data: makeNumbered(320) }));
    const pieces: Uint8Array[] = [];
    const open = createCapture({ driver: 'file', path, loop: true, sampleRate: 16_000 }, clock);
    const capture = await open({ frames: (pcm) => pieces.push(pcm), ended() {}, fault() {} });
    clock.advance(40);
    expect(Buffer.concat(pieces)).toEqual(Buffer.concat([makeNumbered(320), makeNumbered(320)]));
    await capture.close();

    const output = join(makeFolder(), 'out.wav');
    const playback = await createPlayback(
      { driver: 'file', path: output, overwrite: false, maxMinutes: 60, volume: 80, normalize: false },
      24_000,
      clock,
    )({ fault() {}, back() {}, missed() {}, measured() {} });
    expect(playback.write(makeNumbered(10)).from).toBe(clock.now());
    await playback.close();
    expect(clock.armed).toBe(0);
  });
});

describe('file problems', () => {
  const problem = (code: string) =>
    describeFileProblem(Object.assign(new Error('x'), { code }), 'write', 'out.wav');

  it.each([
    ['ENOSPC', 'failed', /^cannot write out.wav: the disk is full; free some space$/],
    ['EROFS', 'failed', /the disk is read-only; choose another place/],
    ['EACCES', 'failed', /permission denied; give this user access/],
    [
      'ENOENT',
      'not_found',
      /^cannot write out\.wav: the folder \. does not exist; make it, or name another place$/,
    ],
    ['EIO', 'lost', /the disk reports an error/],
    ['EWEIRD', 'failed', /the system says EWEIRD/],
  ])('are explained in plain words: %s', (symbol, code, message) => {
    expect(problem(symbol).code).toBe(code);
    expect(problem(symbol).message).toMatch(message);
  });

  it('name the sandbox of the service when the file is in a home folder', () => {
    const denied = Object.assign(new Error('x'), { code: 'EACCES' });
    const path = join('/home', 'kim', 'out.wav');
    expect(describeFileProblem(denied, 'write', path).message).toBe(
      `cannot write ${path}: permission denied; a service sees no home folders (ProtectHome=) and needs a file below /var/lib/dragoman`,
    );
    expect(describeFileProblem(denied, 'read', '/homework/in.wav').message).toMatch(/give this user access/);
  });

  it('are reported even when the system gives no reason', () => {
    expect(describeFileProblem('odd', 'read', 'in.wav').message).toBe(
      'cannot read in.wav: the system gave no reason',
    );
  });

  it('can be found in advance for an output file', () => {
    const folder = makeFolder();
    const path = join(folder, 'out.wav');
    expect(checkWritable(path)).toBeNull();
    writeFileSync(path, '');
    expect(checkWritable(path)).toBeNull();
    writeFileSync(path, makeHeader({ rateHz: 24_000, dataBytes: 0 }));
    expect(checkWritable(path)?.message).toMatch(/has not written it: name another file/);
    expect(checkWritable(path, true)).toBeNull();
    writeFileSync(path, ownHeader({ rateHz: 24_000, dataBytes: 0 }));
    expect(checkWritable(path)).toBeNull();
    expect(checkWritable(folder)?.message).toMatch(/it is a folder; name a file/);
    expect(checkWritable(join(folder, 'none', 'out.wav'))?.message).toMatch(
      /the folder .* does not exist; make it/,
    );
    expect(checkWritable(join(path, 'out.wav'))?.message).toMatch(/a part of the path is a file/);
    chmodSync(path, 0o400);
    const isRoot = process.getuid?.() === 0;
    expect(checkWritable(path)?.message ?? null).toEqual(
      isRoot ? null : expect.stringMatching(/permission denied/),
    );
  });
});
