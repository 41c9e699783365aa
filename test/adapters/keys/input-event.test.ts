import { describe, expect, it } from 'vitest';
import { createEventReader, EVENT_BYTES, eventBytes } from '../../../src/adapters/keys/input-event.ts';
import type { KeyChange } from '../../../src/ports/keys.ts';
import { keyEvent, report } from './evdev.ts';

const reading = (size: 16 | 24) => {
  const changes: KeyChange[] = [];
  return { changes, reader: createEventReader(size, (change) => changes.push(change)) };
};

describe.each([EVENT_BYTES.bits32, EVENT_BYTES.bits64])(
  'an input device with records of %d bytes',
  (size) => {
    const press = keyEvent(size, 59, 1);
    const release = keyEvent(size, 59, 0);

    it('reports a press and a release, and leaves out repeats and other events', () => {
      const { changes, reader } = reading(size);
      const scan = report(size, 4, 4, 0x7003a);
      const repeats = [keyEvent(size, 59, 2), keyEvent(size, 59, 2)];
      for (const bytes of [scan, press, report(size), ...repeats, release, report(size)]) reader.read(bytes);
      expect(changes).toEqual([
        { code: 59, isDown: true },
        { code: 59, isDown: false },
      ]);
    });

    it('reads records in any pieces', () => {
      const { changes, reader } = reading(size);
      const all = Buffer.concat([press, report(size), release, report(size)]);
      for (const byte of all) reader.read(Uint8Array.of(byte));
      expect(changes.map(({ isDown }) => isDown)).toEqual([true, false]);
    });

    it('releases what is held when the device disappears, in the middle of a record', () => {
      const { changes, reader } = reading(size);
      reader.read(Buffer.concat([press, release.subarray(0, 5)]));
      reader.releaseAll();
      reader.read(press);
      expect(changes.map(({ isDown }) => isDown)).toEqual([true, false, true]);
    });

    it('releases what is held when the kernel has dropped events', () => {
      const { changes, reader } = reading(size);
      reader.read(Buffer.concat([press, report(size, 0, 3, 0)]));
      expect(changes.map(({ isDown }) => isDown)).toEqual([true, false]);
    });
  },
);

it('records are short on 32-bit processors', () => {
  expect(['arm', 'ia32', 'arm64', 'x64'].map(eventBytes)).toEqual([16, 16, 24, 24]);
});
