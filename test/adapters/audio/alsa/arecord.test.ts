import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createAlsaCapture } from '../../../../src/adapters/audio/alsa/arecord.ts';
import { createListener, makeProgram, RATE_HZ } from '../child/fake-programs.ts';

const path = process.env['PATH'];
afterEach(() => {
  process.env['PATH'] = path;
});

/** Grants the period that it is asked for, notes it, and delivers. */
const ARECORD = `
const [, period] = /--period-size=(\\d+)/.exec(process.argv.join(' '));
fs.appendFileSync(process.argv[1] + '.periods', period + '\\n');
const setup = ['channels : 1', 'rate : ${RATE_HZ}', 'buffer_size : 32000', 'period_size : ' + period];
process.stderr.write(setup.join('\\n') + '\\n');
deliver();`;

/** @returns the capture, and the periods (samples) that arecord was started with */
async function record(shortPeriods: boolean) {
  const { captureSink, deps } = createListener();
  const program = makeProgram(ARECORD, undefined, 'arecord');
  process.env['PATH'] = `${dirname(program)}:${path}`;
  const open = createAlsaCapture({ device: 'plughw:CARD=Mic', rateHz: RATE_HZ, seed: 1, deps });
  const capture = await open(captureSink, shortPeriods);
  onTestFinished(() => capture.close());
  const file = `${program}.periods`;
  return { capture, periods: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []) };
}

/** The canceller needs the microphone's sound in pieces of 20 ms, 320 samples; a chunk has 320 ms, 5120 samples. */
describe('the periods of a microphone', () => {
  it('are short from the first start when the echo is cancelled', async () => {
    const { periods } = await record(true);
    await expect.poll(() => periods()[0]).toBe('320');
  });

  it('become short when the canceller is switched on', async () => {
    const { capture, periods } = await record(false);
    await expect.poll(() => periods()[0]).toBe('5120');
    capture.useShortPeriods?.(true);
    await expect.poll(() => periods().at(-1)).toBe('320');
  });
});
