import { expect, it } from 'vitest';
import {
  judgeDeviceFault,
  judgeLostDevice,
} from '../../../../src/device/doctor/sound-devices/device-fault-rules.ts';
import { judgeDeviceInUse } from '../../../../src/device/doctor/sound-devices/device-in-use-rules.ts';

it.each([
  [
    'failed',
    'the capture device "mic" cannot be opened: a plugin of ALSA is missing (ALSA: "no pulse.so"); install the package "x"',
    'the capture device "mic" cannot be opened: a plugin of ALSA is missing (ALSA: "no pulse.so")',
    /^Install the package "x"\.$/,
  ],
  [
    'failed',
    'mic cannot be opened (ALSA: "x")',
    'mic cannot be opened (ALSA: "x")',
    /"dragoman devices" lists/,
  ],
  ['lost', 'it went away', 'mic: it went away', /^Plug it in again/],
  ['odd', 'it went away', 'mic: it went away', /"dragoman devices" lists/],
] as const)('gives the advice of the message when there is one: %s, %s', (code, message, finding, fix) => {
  const outcome = judgeDeviceFault('mic', { code, message });
  expect(outcome).toMatchObject({ verdict: 'problem', finding, fix: expect.stringMatching(fix) });
});

it('asks the running agent when its status says only that a device is lost', () => {
  const use = { direction: 'capture', lane: 'main', device: 'mic', agent: 7 } as const;
  expect(judgeDeviceInUse({ ...use, reasons: ['capture:lost'] }).fix).toMatch(/^The command "diagnose"/);
});

it('leaves the device to the running agent when its status is about another lane or direction', () => {
  const use = { direction: 'capture', lane: 'main', device: 'mic', agent: 7 } as const;
  const reasons = ['capture:desk/lost', 'playback:main/lost'];
  expect(judgeDeviceInUse({ ...use, reasons }).verdict).toBe('skipped');
  const own = judgeDeviceInUse({ ...use, reasons: [...reasons, 'capture:main/silent'] });
  expect(own).toMatchObject({ verdict: 'problem', fix: expect.stringMatching(/^Speak into it/) });
});

it('judges a device that a lane has lost by the fault in the state of the lane', () => {
  const fault = { code: 'playback_lost', message: 'it went away' };
  expect(judgeLostDevice('speaker', fault, 'playback')).toMatchObject({
    verdict: 'problem',
    finding: 'speaker: it went away',
    fix: expect.stringMatching(/^Plug it in again/),
    data: { code: 'lost' },
  });
  expect(judgeLostDevice('speaker', null, 'playback').finding).toBe('speaker: it has failed');
});
