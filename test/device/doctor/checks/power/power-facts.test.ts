import { afterAll, describe, expect, it } from 'vitest';
import { readPower } from '../../../../../src/device/doctor/checks/power/power-facts.ts';
import type { RunProgram } from '../../../../../src/ports/machine.ts';
import { createMachines } from '../../machine-folders.ts';

const { machine, remove } = createMachines();
afterAll(remove);
const nothing: RunProgram = async () => ({ ok: false, missing: true, text: '' });

describe('the facts of the power supply', () => {
  it('are read on every kind of board', async () => {
    const firmware = machine({ 'sys/devices/platform/soc/soc:firmware/get_throttled': '50005\n' });
    expect(await readPower(firmware, nothing)).toEqual({ throttled: 0x50005, alarm: null });
    const alarm = machine({
      'sys/class/hwmon/hwmon0/name': 'cpu_thermal\n',
      'sys/class/hwmon/hwmon1/name': 'rpi_volt\n',
      'sys/class/hwmon/hwmon1/in0_lcrit_alarm': '1\n',
    });
    expect(await readPower(alarm, nothing)).toEqual({ throttled: null, alarm: true });
    const asked: string[] = [];
    const answering: RunProgram = async (program) => {
      asked.push(program);
      return { ok: true, text: 'throttled=0x0\n' };
    };
    expect(await readPower(machine({}), answering)).toEqual({ throttled: 0, alarm: null });
    expect(asked).toEqual(['vcgencmd']);
    expect(await readPower(machine({}), nothing)).toEqual({ throttled: null, alarm: null });
  });
});
