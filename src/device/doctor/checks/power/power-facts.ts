import { join } from 'node:path';
import { listIfReadable, readIfReadable } from '../../../../adapters/if-readable.ts';
import type { KernelFolders, RunProgram } from '../../../../ports/machine.ts';
import type { PowerFacts } from './power-rules.ts';

export async function readPower({ sys }: KernelFolders, run: RunProgram): Promise<PowerFacts> {
  return { throttled: await readThrottled(sys, run), alarm: readAlarm(sys) };
}

async function readThrottled(sys: string, run: RunProgram): Promise<number | null> {
  const places = ['devices/platform/soc/soc:firmware', 'devices/platform/soc@107c000000/soc:firmware'];
  for (const place of places) {
    const text = readIfReadable(join(sys, place, 'get_throttled'))?.trim();
    if (text !== undefined && /^[0-9a-f]+$/i.test(text)) return Number.parseInt(text, 16);
  }
  const answer = await run('vcgencmd', ['get_throttled']);
  const bits = answer.ok ? /throttled=0x([0-9a-f]+)/i.exec(answer.text)?.[1] : undefined;
  return bits === undefined ? null : Number.parseInt(bits, 16);
}

function readAlarm(sys: string): boolean | null {
  const folder = join(sys, 'class', 'hwmon');
  for (const name of listIfReadable(folder)) {
    if (readIfReadable(join(folder, name, 'name'))?.trim() !== 'rpi_volt') continue;
    const alarm = readIfReadable(join(folder, name, 'in0_lcrit_alarm'))?.trim();
    if (alarm !== undefined) return alarm === '1';
  }
  return null;
}
