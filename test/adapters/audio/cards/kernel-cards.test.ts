import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { addressOf, type Card, isBusy } from '../../../../src/adapters/audio/cards/card.ts';
import { findStream, hasKernelSound, readCards } from '../../../../src/adapters/audio/cards/kernel-cards.ts';
import {
  headset,
  headsetLines,
  layOut,
  type Machine,
  NO_CARDS,
  pcm,
  processFiles,
  RASPBERRY_PI,
  runningStatus,
  type Tree,
} from './machines.ts';

let machine: Machine;
afterEach(() => machine.clear());

function read(...trees: Tree[]): Card[] {
  machine = layOut(Object.assign({}, ...trees));
  return readCards(machine);
}

const streamOf = (card: Card | undefined, direction: 'capture' | 'playback') => {
  const stream = card?.streams.find((one) => one.direction === direction);
  if (card === undefined || stream === undefined) throw new Error('there is no such stream');
  return { card, stream };
};

describe('the cards of a Raspberry Pi', () => {
  it('are listed with id, name, driver and direction', () => {
    const cards = read(RASPBERRY_PI);
    expect(
      cards.map(({ index, id, driver, name, streams }) => [
        index,
        id,
        driver,
        name,
        streams.map(({ direction, places }) => `${direction} ${places}`),
      ]),
    ).toEqual([
      [0, 'Headphones', 'bcm2835_headpho', 'bcm2835 Headphones', ['playback 8']],
      [1, 'vc4hdmi0', 'vc4-hdmi', 'vc4-hdmi-0', ['playback 1']],
      [2, 'seeed2micvoicec', 'seeed-2mic-voic', 'seeed-2mic-voicecard', ['capture 1', 'playback 1']],
      [3, 'Device', 'USB-Audio', 'USB PnP Sound Device', ['capture 1', 'playback 1']],
    ]);
  });

  it('are addressed by their id, HDMI by the device that converts for it', () => {
    const addresses = read(RASPBERRY_PI).map((card) => addressOf(card, streamOf(card, 'playback').stream));
    expect(addresses).toEqual([
      'plughw:CARD=Headphones',
      'sysdefault:CARD=vc4hdmi0',
      'plughw:CARD=seeed2micvoicec',
      'plughw:CARD=Device',
    ]);
  });

  it('include the USB port and the abilities of a USB card', () => {
    const [, , board, usb] = read(RASPBERRY_PI);
    expect(board?.usb).toBeNull();
    expect(usb?.usb).toEqual({ port: '1-1.3:1.0', model: '0d8c:0014' });
    const rates = [
      { least: 44_100, most: 44_100 },
      { least: 48_000, most: 48_000 },
    ];
    expect(streamOf(usb, 'capture').stream.ability).toEqual({
      formats: ['S16_LE'],
      channels: [{ least: 1, most: 1 }],
      rates,
    });
    expect(streamOf(usb, 'playback').stream.ability).toEqual({
      formats: ['S16_LE'],
      channels: [{ least: 2, most: 2 }],
      rates,
    });
  });

  it('address a second device of a card by its number', () => {
    const [, , board] = read(RASPBERRY_PI, pcm(2, 1, 'c', 'wm8960-hifi-1'));
    expect(board?.streams.map((stream) => addressOf(board, stream))).toEqual([
      'plughw:CARD=seeed2micvoicec',
      'plughw:CARD=seeed2micvoicec',
      'plughw:CARD=seeed2micvoicec,DEV=1',
    ]);
  });

  it('include whether this user may open them', () => {
    machine = layOut(RASPBERRY_PI);
    machine.remove('dev/snd/controlC1');
    chmodSync(join(machine.dev, 'snd', 'controlC2'), 0o000);
    const allowed = readCards(machine).map(({ isAllowed }) => isAllowed);
    // The superuser may open any of them.
    expect(allowed).toEqual([true, null, process.getuid?.() === 0, true]);
  });
});

describe('a card that a program uses', () => {
  const status = 'proc/asound/card3/pcm0c/sub0/status';

  it('names the program, and the parent of a mere wrapper', () => {
    const [, , , usb] = read(
      RASPBERRY_PI,
      { [status]: runningStatus(812) },
      processFiles(812, 'arecord', { parent: 790, words: ['arecord', '-D', 'plughw:CARD=Device'] }),
      processFiles(790, 'node', {
        words: ['/usr/bin/node', '--enable-source-maps', '/opt/dragoman/dragoman.mjs', 'run'],
      }),
    );
    const { stream } = streamOf(usb, 'capture');
    expect(stream.holders).toEqual([{ pid: 812, program: 'arecord of dragoman' }]);
    expect(isBusy(stream)).toBe(true);
    expect(isBusy(streamOf(usb, 'playback').stream)).toBe(false);
    expect(findStream({ card: 'Device', device: 0 }, 'capture', machine)).toEqual(stream);
    expect(findStream({ card: 3, device: 0 }, 'capture', machine)).toEqual(stream);
    expect(findStream({ card: 'Device', device: 0 }, 'playback', machine)?.holders).toEqual([]);
    expect(findStream({ card: 'Device', device: 1 }, 'capture', machine)).toBeNull();
    expect(findStream({ card: 'Gone', device: 0 }, 'capture', machine)).toBeNull();
  });

  it('names the program, not its thread', () => {
    const [, , , usb] = read(
      RASPBERRY_PI,
      { [status]: runningStatus(1553) },
      processFiles(1553, 'data-loop.0', { group: 1540 }),
      processFiles(1540, 'pipewire'),
    );
    expect(streamOf(usb, 'capture').stream.holders).toEqual([{ pid: 1540, program: 'pipewire' }]);
  });

  it('reports that the program cannot be seen', () => {
    const [, , , usb] = read(RASPBERRY_PI, { [status]: runningStatus(4711) });
    const program = 'a program that this user may not see';
    expect(streamOf(usb, 'capture').stream.holders).toEqual([{ pid: 4711, program }]);
    machine.write(status, runningStatus(0));
    const [, , , again] = readCards(machine);
    expect(streamOf(again, 'capture').stream.holders).toEqual([{ pid: null, program }]);
  });

  it('is not busy while it has free places', () => {
    const place = (number: number): Tree => ({
      [`proc/asound/card0/pcm0p/sub${number}/status`]: runningStatus(900),
    });
    const [some] = read(RASPBERRY_PI, processFiles(900, 'mpd'), place(0), place(1));
    expect(streamOf(some, 'playback').stream.holders).toHaveLength(2);
    expect(isBusy(streamOf(some, 'playback').stream)).toBe(false);
    machine.clear();
    const [all] = read(RASPBERRY_PI, processFiles(900, 'mpd'), ...[0, 1, 2, 3, 4, 5, 6, 7].map(place));
    expect(isBusy(streamOf(all, 'playback').stream)).toBe(true);
  });
});

describe('a card that is plugged in again', () => {
  it('has its id and another number', () => {
    machine = layOut(RASPBERRY_PI);
    const find = () => readCards(machine).find(({ id }) => id === 'Device');
    expect(find()?.index).toBe(3);
    machine.remove('proc/asound/card3');
    machine.write('proc/asound/cards', '--- no soundcards ---\n');
    expect(find()).toBeUndefined();
    machine.write('proc/asound/cards', headsetLines(5, 'Device', '1.3'));
    for (const [path, text] of Object.entries(headset(5, 'Device', '1.3'))) machine.write(path, text);
    const card = find();
    expect(card?.index).toBe(5);
    expect(card?.usb?.port).toBe('1-1.3:1.0');
    expect(card && addressOf(card, streamOf(card, 'capture').stream)).toBe('plughw:CARD=Device');
  });
});

describe('a machine without cards', () => {
  it('lists no cards, with kernel sound and without', () => {
    expect(read(NO_CARDS)).toEqual([]);
    expect(hasKernelSound(machine)).toBe(true);
    machine.clear();
    expect(read({ 'proc/1/comm': 'init\n' })).toEqual([]);
    expect(hasKernelSound(machine)).toBe(false);
  });
});
