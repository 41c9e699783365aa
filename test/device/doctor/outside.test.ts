import { expect, it } from 'vitest';
import { createOutside } from '../../../src/device/doctor/outside.ts';
import type { OpenCapture, OpenPlayback } from '../../../src/ports/audio.ts';
import type { MachineParts } from '../../../src/ports/machine.ts';
import type { CheckName } from '../../../src/protocol/mqtt/diagnose.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { testConfig } from '../fake-deps.ts';

const MACHINE: MachineParts = {
  env: {},
  kernel: { proc: '/nowhere', sys: '/nowhere' },
  run: async () => ({ ok: false, missing: true, text: '' }),
  soundAccess: () => ({ hasSound: false, user: 'kiosk', isInAudio: false, cards: [] }),
};

/** How often a silent microphone and the loudspeaker are opened when the check of the microphone runs. */
async function opened(...only: CheckName[]): Promise<[number, number]> {
  const clock = createVirtualClock();
  const opened: [number, number] = [0, 0];
  const openCapture: OpenCapture = async (sink) => {
    opened[0] += 1;
    let cancel = (): void => {};
    const deliver = (): void => {
      sink.frames(new Uint8Array(3200), clock.now());
      cancel = clock.at(clock.now() + 100, deliver);
    };
    deliver();
    return { close: async () => cancel() };
  };
  const openPlayback: OpenPlayback = () => {
    opened[1] += 1;
    return Promise.reject(new Error('it is busy'));
  };
  const config = testConfig({
    capture: { device: 'plughw:CARD=Mic' },
    playback: { device: 'plughw:CARD=Out' },
  });
  const { configured } = createOutside({
    file: 'config.json',
    loaded: { ok: true, config },
    machine: MACHINE,
    clock,
    isSilent: false,
    sound: { openCapture: () => openCapture, openPlayback: () => openPlayback },
    tells: (name) => only.includes(name),
  });
  let isDone = false;
  void configured?.sound.capture().then(() => {
    isDone = true;
  });
  for (let second = 0; second < 60 && !isDone; second++) await clock.elapse(1000);
  await configured?.close();
  return opened;
}

it('the loudspeaker is opened only if its check is asked for', async () => {
  expect(await opened('capture')).toEqual([1, 0]);
  expect(await opened('capture', 'playback')).toEqual([1, 1]);
});

it('an unusable key of the owner is a problem of the broker check, which then opens no connection', async () => {
  const { configured } = createOutside({
    file: 'config.json',
    loaded: { ok: true, config: testConfig({}, { owner: { publicKeyFiles: ['/nowhere/owner.pem'] } }) },
    machine: MACHINE,
    clock: createVirtualClock(),
    isSilent: true,
    tells: () => true,
  });
  expect(await configured?.servers.judgeBroker()).toMatchObject({
    verdict: 'problem',
    finding: expect.stringContaining('/nowhere/owner.pem'),
    fix: 'Fix the configuration first.',
  });
  await configured?.close();
});
