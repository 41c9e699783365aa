import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { listIfReadable, readIfReadable } from '../../if-readable.ts';
import {
  type Card,
  type CardStream,
  type Direction,
  type Holder,
  type MachineFolders,
  UNKNOWN_ABILITY,
  type UsbPlace,
} from './card.ts';
import { parseDeviceName } from './device-name.ts';
import { describeHolder } from './process-name.ts';
import { parseUsbStream } from './usb-stream.ts';

/** Whether the kernel has sound at all, with cards or without. */
export function hasKernelSound({ proc }: MachineFolders): boolean {
  return existsSync(join(proc, 'asound'));
}

/** All sound cards, in the order of their numbers. A card that comes or goes meanwhile may be included or not. Never throws. */
export function readCards(folders: MachineFolders): Card[] {
  const text = readIfReadable(join(folders.proc, 'asound', 'cards')) ?? '';
  return [...text.matchAll(/^ *(\d+) \[([^\]]*)\]: (.*?) - (.*)$/gm)].map(
    ([, number = '', id = '', driver = '', name = '']) => {
      const index = Number(number);
      return {
        index,
        id: id.trim(),
        driver: driver.trim(),
        name: name.trim(),
        usb: readUsbPlace(index, folders),
        streams: readStreams(index, folders),
        isAllowed: isAllowed(index, folders),
      };
    },
  );
}

/** One direction of a device, by its card's id or number; null when there is none. */
export function findStream(
  { card, device }: { readonly card: string | number; readonly device: number },
  direction: Direction,
  folders: MachineFolders,
): CardStream | null {
  const match = readCards(folders).find(({ id, index }) => id === card || index === card);
  return match?.streams.find((one) => one.direction === direction && one.device === device) ?? null;
}

/** The stream of a configured device; null when its name does not lead to a hardware device. */
export function streamOf(device: string, direction: Direction, folders: MachineFolders): CardStream | null {
  const name = parseDeviceName(device);
  const isHardware = name?.plugin === 'hw' || name?.plugin === 'plughw';
  return isHardware ? findStream(name, direction, folders) : null;
}

function readUsbPlace(index: number, { proc, sys }: MachineFolders): UsbPlace | null {
  const model = readIfReadable(join(proc, 'asound', `card${index}`, 'usbid'))?.trim() ?? null;
  let port: string | null = null;
  try {
    const device = basename(realpathSync(join(sys, 'class', 'sound', `card${index}`, 'device')));
    if (/^\d+-[\d.]+:\d+\.\d+$/.test(device)) port = device;
  } catch {
    // Cards without a device are software cards.
  }
  return model === null && port === null ? null : { model, port };
}

function readStreams(index: number, { proc }: MachineFolders): CardStream[] {
  const folder = join(proc, 'asound', `card${index}`);
  const streams = listIfReadable(folder).flatMap((name) => {
    const [, device, letter] = /^pcm(\d+)([cp])$/.exec(name) ?? [];
    if (device === undefined) return [];
    return [readStream(folder, Number(device), letter === 'c' ? 'capture' : 'playback', proc)];
  });
  return streams.sort(
    (one, other) => one.device - other.device || one.direction.localeCompare(other.direction),
  );
}

function readStream(card: string, device: number, direction: Direction, proc: string): CardStream {
  const folder = join(card, `pcm${device}${direction === 'capture' ? 'c' : 'p'}`);
  const info = readIfReadable(join(folder, 'info')) ?? '';
  const usb = readIfReadable(join(card, `stream${device}`));
  const places = listIfReadable(folder).filter((name) => /^sub\d+$/.test(name));
  const holders = places.flatMap((place) => readHolder(join(folder, place), proc));
  return {
    direction,
    device,
    name: /^name: (.+)$/m.exec(info)?.[1]?.trim() || (/^id: (.+)$/m.exec(info)?.[1]?.trim() ?? ''),
    ability: usb === null ? UNKNOWN_ABILITY : parseUsbStream(usb)[direction],
    places: Math.max(1, places.length),
    holders,
  };
}

/** Parses the status file: "closed", or who has it open. */
function readHolder(place: string, proc: string): Holder[] {
  const status = readIfReadable(join(place, 'status'));
  if (status === null || !/^state: /m.test(status)) return [];
  const pid = Number(/^owner_pid *: (\d+)$/m.exec(status)?.[1] ?? 0);
  return [describeHolder(proc, pid)];
}

function isAllowed(index: number, { dev }: MachineFolders): boolean | null {
  const file = join(dev, 'snd', `controlC${index}`);
  if (!existsSync(file)) return null;
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
