import type { KeyChange } from '../../ports/keys.ts';

/** Bytes of the kernel's `struct input_event`: two longs of time, then type, code and value. */
export const EVENT_BYTES = { bits64: 24, bits32: 16 } as const;
export type EventBytes = (typeof EVENT_BYTES)[keyof typeof EVENT_BYTES];

const TYPE_BYTES = 8;
const EV_SYN = 0;
const EV_KEY = 1;
const SYN_DROPPED = 3;
const RELEASED = 0;
const PRESSED = 1;

/** The size of an event on this machine. */
export function eventBytes(arch: string = process.arch): EventBytes {
  return arch === 'arm' || arch === 'ia32' ? EVENT_BYTES.bits32 : EVENT_BYTES.bits64;
}

/** Turns the bytes of an input device into changes of keys. */
export interface EventReader {
  read(bytes: Uint8Array): void;
  /** The device is gone: its keys count as released. */
  releaseAll(): void;
}

export function createEventReader(size: EventBytes, changed: (change: KeyChange) => void): EventReader {
  const down = new Set<number>();
  let rest: Uint8Array = new Uint8Array(0);
  const change = (code: number, isDown: boolean): void => {
    if (down.has(code) === isDown) return;
    if (isDown) down.add(code);
    else down.delete(code);
    changed({ code, isDown });
  };
  const releaseAll = (): void => {
    for (const code of [...down]) change(code, false);
  };
  const handle = (type: number, code: number, value: number): void => {
    // The kernel has dropped events; a release may be among them.
    if (type === EV_SYN && code === SYN_DROPPED) releaseAll();
    // Other values are repeats of a key that is held.
    else if (type === EV_KEY && (value === PRESSED || value === RELEASED)) change(code, value === PRESSED);
  };
  return {
    read(bytes) {
      const all = rest.byteLength === 0 ? bytes : new Uint8Array([...rest, ...bytes]);
      const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
      let at = 0;
      for (; at + size <= all.byteLength; at += size) {
        const field = at + size - TYPE_BYTES;
        handle(view.getUint16(field, true), view.getUint16(field + 2, true), view.getInt32(field + 4, true));
      }
      rest = all.slice(at);
    },
    releaseAll() {
      rest = new Uint8Array(0);
      releaseAll();
    },
  };
}
