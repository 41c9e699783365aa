import type { RunProgram } from '../../ports/machine.ts';
import { controlDevice } from '../audio/alsa/mixer.ts';
import type { PlugState } from './plug-state.ts';

/** A card's jack control, which the kernel sets when a plug goes in or out. */

/** The control device for programs; an empty name is refused by each of them. */
const cardOf = (device: string): string => controlDevice(device) ?? '';

/** The program that writes a line whenever a control of the card changes. On a pipe, amixer alone would hold its lines back. */
export const jackMonitor = (device: string): readonly string[] => [
  'stdbuf',
  '-oL',
  'amixer',
  '-D',
  cardOf(device),
  'events',
];

/** Whether the plug is in, by the card's jack control. */
export async function readJack(device: string, control: string, run: RunProgram): Promise<PlugState> {
  const card = cardOf(device);
  const answer = await run('amixer', ['-D', card, 'cget', `iface=CARD,name='${control}'`]);
  if (!answer.ok && answer.missing)
    return { problem: 'amixer is not installed', fix: 'apt install alsa-utils' };
  const value = /^\s*: values=(on|off)\b/m.exec(answer.text)?.[1];
  if (answer.ok && value !== undefined) return value === 'on';
  if (/Cannot find the given element/i.test(answer.text) || answer.ok)
    return {
      problem: `the card of "${device}" has no jack control "${control}"`,
      fix: `Choose one of those that "amixer -D ${card} controls" lists with iface=CARD for headset.detect.`,
    };
  return {
    problem: `the controls of "${device}" cannot be read`,
    fix: 'Plug the card in, or name another one in headset.device: "dragoman devices" lists them.',
  };
}
