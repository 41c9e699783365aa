import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { until } from '../../nspawn/kiosk.ts';
import {
  configuration,
  eventsOf,
  expectWhole,
  type Fixture,
  handOver,
  inSeconds,
  inWords,
  LANE,
  live,
  ready,
  SERVICE,
  speak,
  statusOf,
  wait,
} from '../kiosk.ts';
import { USB_LOUDSPEAKER } from '../machine.ts';
import { onMachine } from '../on-machine.ts';
import { timed } from '../slowness.ts';
import { type Judgement, judge } from '../tones.ts';
import { samplesOfUsb } from '../usb-sound.ts';

const PULLED_FOR_MS = 4000;
/** Time until all sound is played (ms), from the end of the pause or the start of a short recording. */
const ALL_SAID_MS = 24_000;

onMachine('a USB loudspeaker', ({ onStoppedDevice }) => {
  onStoppedDevice(
    'is reported when unplugged during speech, and plays the rest after its return',
    async (fixture, { annotate }) => {
      const { machine } = fixture;
      try {
        const card = await plugIn(fixture);
        const playback = { ...LANE.playback, device: `plughw:CARD=${card}` };
        await handOver(fixture, configuration({ playback }));
        await machine.must(['systemctl', 'start', SERVICE]);
        await live(fixture);
        await speak(fixture, 30);
        await wait(10_000);
        const pulledAt = performance.now();
        await machine.monitor('device_del horn');
        const missedMs = await until(
          'the missing device is reported',
          async () => statusOf(fixture) === 'degraded',
          60_000,
        );
        expect(fixture.owner.newest('status')?.['reasons']).toEqual([expect.stringMatching(/^playback:/)]);
        const before = heard(fixture);
        await wait(PULLED_FOR_MS);
        expect(await plugIn(fixture)).toBe(card);
        const backMs = await ready(fixture, 60_000);
        const about = { device: 'playback' };
        expect(eventsOf(fixture, 'audio_lost', pulledAt)).toEqual([expect.objectContaining(about)]);
        expect(eventsOf(fixture, 'audio_back', pulledAt)).toEqual([expect.objectContaining(about)]);
        // Delayed sound is played faster, with a pitch at which no tone is clear.
        await wait(ALL_SAID_MS);
        const { bytes, ...rest } = heard(fixture);
        // New speech.
        await speak(fixture, 12);
        await wait(ALL_SAID_MS);
        await machine.monitor('device_del horn');
        await wait(500);
        const after = heard(fixture, bytes);
        const restS = rest.seconds - rest.silentMs / 1000;
        await annotate(
          `reported after ${inSeconds(missedMs)}, ready ${inSeconds(backMs)} after its return; ` +
            `before: ${inWords(before)}; ${restS.toFixed(1)} s played after it; then: ${inWords(after)}`,
        );
        timed(() => expect(restS).toBeGreaterThan(10));
        for (const part of [before, after]) {
          timed(() => expect(part.tones.length).toBeGreaterThan(40));
          expectWhole(part);
        }
      } finally {
        await machine.monitor('device_del horn');
      }
    },
  );
});

/** Plugs it in. @returns its name in the kernel */
async function plugIn({ machine }: Fixture): Promise<string> {
  const said = await machine.monitor(`device_add ${USB_LOUDSPEAKER}`);
  expect(said).not.toMatch(/error/i);
  const find = () =>
    machine.sh('for id in /proc/asound/card*/usbid; do test ! -e "$id" || cat "$(dirname "$id")/id"; done');
  let name = '';
  await until(
    'the kernel knows it',
    async () => {
      name = (await find()).trim();
      return name !== '';
    },
    30_000,
  );
  return name;
}

/** Judges its sound since it was plugged in, after this many bytes. */
function heard({ machine }: Fixture, from?: number): Judgement & { readonly bytes: number } {
  const { samples, end } = samplesOfUsb(readFileSync(machine.usbSound), from);
  return { ...judge(samples), bytes: end };
}
