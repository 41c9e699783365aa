import { afterEach, describe, expect, it } from 'vitest';
import { findTwins, type Twins } from '../../../../src/adapters/audio/cards/identical-cards.ts';
import { readCards } from '../../../../src/adapters/audio/cards/kernel-cards.ts';
import { headset, headsetLines, layOut, type Machine, RASPBERRY_PI, TWO_HEADSETS } from './machines.ts';

let machine: Machine;
afterEach(() => machine.clear());

const namesIn = (twins: Twins | undefined) => twins?.rules.map((rule) => /ATTR\{id\}="(.*)"/.exec(rule)?.[1]);

describe('identical cards', () => {
  it('are found, with a name for each socket', () => {
    machine = layOut(TWO_HEADSETS);
    const twins = findTwins(readCards(machine));
    expect(twins.map(({ cards }) => cards.map(({ id }) => id))).toEqual([['Device', 'Device_1']]);
    expect(twins[0]?.rules).toEqual([
      'ACTION=="add", KERNEL=="card*", KERNELS=="1-1.1:1.0", ATTR{id}="DeviceA"',
      'ACTION=="add", KERNEL=="card*", KERNELS=="1-1.4:1.0", ATTR{id}="DeviceB"',
    ]);
    for (const rule of twins[0]?.rules ?? []) expect(rule.length).toBeLessThanOrEqual(80);
  });

  it('get names that no other card has', () => {
    machine = layOut({
      ...TWO_HEADSETS,
      ...headset(2, 'DeviceA', '1.2'),
      'proc/asound/cards':
        headsetLines(0, 'Device', '1.1') +
        headsetLines(1, 'Device_1', '1.4') +
        headsetLines(2, 'DeviceA', '1.2'),
      'proc/asound/card2/usbid': '1111:2222\n',
    });
    expect(namesIn(findTwins(readCards(machine))[0])).toEqual(['DeviceA1', 'DeviceB']);
  });

  it('get names of at most the 15 characters that the kernel keeps', () => {
    machine = layOut({
      ...TWO_HEADSETS,
      'proc/asound/cards':
        headsetLines(0, 'ABCDEFGHIJKLMNO', '1.1') + headsetLines(1, 'ABCDEFGHIJKLM_1', '1.4'),
    });
    expect(namesIn(findTwins(readCards(machine))[0])).toEqual(['ABCDEFGHIJKLMNA', 'ABCDEFGHIJKLMB']);
  });

  it('are ignored when a rule has already named them', () => {
    machine = layOut({
      ...TWO_HEADSETS,
      'proc/asound/cards': headsetLines(0, 'DeviceA', '1.1') + headsetLines(1, 'DeviceB', '1.4'),
    });
    expect(findTwins(readCards(machine))).toEqual([]);
  });

  it('do not include cards of different models, nor a single card', () => {
    machine = layOut({ ...TWO_HEADSETS, 'proc/asound/card1/usbid': '1111:2222\n' });
    expect(findTwins(readCards(machine))).toEqual([]);
    machine.clear();
    machine = layOut(RASPBERRY_PI);
    expect(findTwins(readCards(machine))).toEqual([]);
  });

  it('get no rules when their sockets are unknown', () => {
    machine = layOut(TWO_HEADSETS);
    machine.remove('sys');
    expect(findTwins(readCards(machine))[0]?.rules).toEqual([]);
  });
});
