import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCapture } from '../../../../src/adapters/audio/drivers/driver.ts';
import type { AudioFault } from '../../../../src/ports/audio.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';

/** Real children with a clock that stands still: the passage of time causes no retry. */
describe('a capture without its card', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-return-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('retries as soon as the cards change, but not after it is closed', async () => {
    const card = join(folder, 'card');
    const clock = createVirtualClock();
    const listeners = new Set<() => void>();
    const whenCardsChange = (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    };
    const cardsChange = (): void => {
      for (const listener of [...listeners]) listener();
    };
    const script = `[ -e "$0" ] || { echo "audio open error: No such device" >&2; exit 1; }; exec cat /dev/zero`;
    const config = {
      driver: 'command' as const,
      command: ['/bin/sh', '-c', script, card],
      sampleRate: 24_000,
    };
    let fault: AudioFault | null = null;
    let bytes = 0;
    const capture = await createCapture(config, clock, { whenCardsChange })({
      frames: (pcm) => {
        bytes += pcm.byteLength;
      },
      ended() {},
      fault: (reported) => {
        fault = reported;
      },
    });
    await until(() => fault !== null);
    expect(fault).toMatchObject({ code: 'not_found' });
    expect(capture.figures?.starts).toBe(1);

    // Another card came: this one is tried at once, and fails.
    cardsChange();
    await until(() => capture.figures?.failures === 2);
    expect(existsSync(card)).toBe(false);
    expect(bytes).toBe(0);

    writeFileSync(card, '');
    cardsChange();
    await until(() => bytes > 0);
    expect(capture.figures?.starts).toBe(3);

    await capture.close();
    expect(listeners.size).toBe(0);
  });

  it('ignores changes of cards while it works', async () => {
    const clock = createVirtualClock();
    let tell = (): void => {};
    let bytes = 0;
    const config = {
      driver: 'command' as const,
      command: ['/bin/sh', '-c', 'head -c 4800 /dev/zero; exec sleep 60'],
      sampleRate: 24_000,
    };
    const capture = await createCapture(config, clock, {
      whenCardsChange: (listener) => {
        tell = listener;
        return () => {};
      },
    })({
      frames: (pcm) => {
        bytes += pcm.byteLength;
      },
      ended() {},
      fault() {},
    });
    await until(() => bytes === 4800);
    tell();
    expect(capture.figures).toMatchObject({ starts: 1, failures: 0 });
    await capture.close();
  });
});

/** Waits for real processes, however slow the machine is. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
