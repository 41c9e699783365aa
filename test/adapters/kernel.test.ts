import { afterAll, describe, expect, it } from 'vitest';
import { readTemperature } from '../../src/adapters/kernel.ts';
import { createMachines } from '../device/doctor/machine-folders.ts';

const { machine, remove } = createMachines();
afterAll(remove);

describe('the temperature of a machine', () => {
  it('is that of the hottest sensor, without sensors that are not connected', () => {
    expect(
      readTemperature(
        machine({
          'sys/class/thermal/thermal_zone0/temp': '48312\n',
          'sys/class/thermal/thermal_zone1/temp': '61500\n',
          'sys/class/thermal/thermal_zone2/temp': '-274000\n',
          'sys/class/thermal/cooling_device0/temp': '99000\n',
        }),
      ),
    ).toBe(61.5);
    expect(readTemperature(machine({}))).toBeNull();
  });
});
