import { expect, it } from 'vitest';
import { checkMixers } from '../../../../../src/device/doctor/checks/mixer/mixer-check.ts';
import type { MachineParts, ProgramAnswer } from '../../../../../src/ports/machine.ts';

const HEADSET = { device: 'plughw:CARD=Head', detect: 'Headphone Jack' };
const MIXER = `Simple mixer control 'Headphone',0
  Capabilities: pvolume pswitch
  Limits: Playback 0 - 37
  Mono: Playback 26 [70%] [-11.00dB] [on]
`;
const asked: string[] = [];
const check = (plug: ProgramAnswer, headset = HEADSET) => {
  const run: MachineParts['run'] = async (program, words) => {
    asked.push([program, ...words].join(' '));
    return words.includes('scontents') ? { ok: true, text: MIXER } : plug;
  };
  const device = { device: headset.device, direction: 'playback' } as const;
  return checkMixers({ run } as MachineParts, [device], [headset]);
};

it.for([
  ['on', 'in'],
  ['off', 'out'],
])('reports a plug whose jack control is %s as %s', async ([value, state]) => {
  const text = `numid=4,iface=CARD,name='Headphone Jack'\n  ; type=BOOLEAN,access=r-------,values=1\n  : values=${value}\n`;
  const outcome = await check({ ok: true, text });
  expect(outcome).toMatchObject({
    verdict: 'ok',
    finding: expect.stringContaining(
      `the plug of the headset "plughw:CARD=Head" is ${state} ("Headphone Jack")`,
    ),
  });
  expect(asked).toContain("amixer -D hw:CARD=Head cget iface=CARD,name='Headphone Jack'");
});

it.for<[string, string, string, string]>([
  [
    'Headphone Jack',
    'amixer: Cannot find the given element from control hw:CARD=Head',
    'no jack control "Headphone Jack"',
    'controls',
  ],
  [
    'Headphone Jack',
    'amixer: Control hw:CARD=Head open error: No such device',
    'cannot be read',
    'dragoman devices',
  ],
  ['/dev/input/event9', 'No such file or directory', 'no input device "/dev/input/event9"', '--keys'],
  ['/dev/input/event9', 'Permission denied', 'cannot read "/dev/input/event9"', 'group "input"'],
  ['/dev/input/event9', 'Operation not permitted', 'the unit does not allow', 'DeviceAllow=char-input r'],
  ['/dev/input/event9', 'no headphone switch', '"/dev/input/event9" has no headphone switch', 'jack'],
])('names the problem and the fix of %s: %s', async ([detect, text, finding, fix]) => {
  expect(await check({ ok: false, missing: false, text }, { ...HEADSET, detect })).toMatchObject({
    verdict: 'problem',
    finding: expect.stringContaining(finding),
    fix: expect.stringContaining(fix),
  });
});
