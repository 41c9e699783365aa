import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createAlsaPlayback } from '../../../../src/adapters/audio/alsa/aplay.ts';
import { createListener, makeProgram, RATE_HZ, startsOf } from '../child/fake-programs.ts';

const within = { timeout: 60_000, interval: 10 };
const path = process.env['PATH'];
afterEach(() => {
  process.env['PATH'] = path;
});

const SETUP = ['channels : 1', `rate : ${RATE_HZ}`, 'buffer_size : 1600', 'period_size : 320'];
const BROKEN = 'aplay: xwrite:2200: write error: No such device';
const AWAY = 'aplay: main:834: audio open error: No such device';

/** Plays, breaks off after 300 ms of sound, and cannot be opened while its card is away. Takes a while to open. */
const aplay = (opensInMs: number): string => `
const away = require('node:path').join(require('node:path').dirname(process.argv[1]), 'away');
const end = (why) => process.stderr.write(why + '\\n', () => process.exit(1));
if (fs.existsSync(away)) end('${AWAY}');
else setTimeout(() => {
  process.stderr.write('${SETUP.join('\\n')}\\n');
  let taken = 0;
  process.stdin.on('data', (pcm) => {
    taken += pcm.length;
    fs.appendFileSync(process.argv[1] + '.taken', pcm);
    if (!fs.existsSync(away) && count === 1 && fs.existsSync(away + '-soon') && taken >= ${RATE_HZ * 0.6}) {
      fs.writeFileSync(away, '');
      end('${BROKEN}');
    }
  });
}, ${opensInMs});`;

async function speak(opensInMs = 0, breaks = true) {
  const listener = createListener();
  const program = makeProgram(aplay(opensInMs), undefined, 'aplay');
  const away = join(dirname(program), 'away');
  if (breaks) writeFileSync(`${away}-soon`, '');
  process.env['PATH'] = `${dirname(program)}:${path}`;
  const options = { device: 'plughw:CARD=Loose', rateHz: RATE_HZ, seed: 1, deps: listener.deps };
  const playback = await createAlsaPlayback(options)(listener.playbackSink);
  onTestFinished(() => playback.close());
  return { ...listener, playback, program, away };
}

describe('playback with aplay', () => {
  it('reports how much written sound was lost while the loudspeaker was away', async () => {
    const { heard, playback, away } = await speak();
    playback.write(new Uint8Array(RATE_HZ * 2 * 3).fill(33));
    await expect.poll(() => heard.faults.length, within).toBe(1);
    await sleep(1500);
    expect(existsSync(away)).toBe(true);
    rmSync(away);
    await expect.poll(() => heard.backs, within).toBe(1);
    expect(heard.missedMs).toBeGreaterThan(400);
    expect(heard.missedMs).toBeLessThan(3000);
  });

  it('loses no sound when the device opens late, as on a busy machine', async () => {
    const { heard, playback, program } = await speak(1800, false);
    playback.write(new Uint8Array(RATE_HZ).fill(33));
    const isTaken = (): boolean => existsSync(`${program}.taken`);
    await expect.poll(isTaken, within).toBe(true);
    await sleep(300);
    expect(heard).toMatchObject({ missedMs: 0, faults: [] });
    expect(startsOf(program)).toBe(1);
  });
});
