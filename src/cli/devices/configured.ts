import type { AlsaTools } from '../../adapters/audio/cards/alsa-tools.ts';
import { type Direction, describeHolders } from '../../adapters/audio/cards/card.ts';
import { parseDeviceName } from '../../adapters/audio/cards/device-name.ts';
import type { Survey, SurveyedStream } from '../../adapters/audio/cards/survey.ts';
import type { Config } from '../../protocol/config.ts';

/** A device in a configuration. */
export interface ConfiguredDevice {
  readonly lane: string;
  readonly direction: Direction;
  readonly device: string;
}

/** State of a configured device on this machine. */
export interface DeviceFinding extends ConfiguredDevice {
  readonly isThere: boolean;
  /** Completes "lane main, capture: ...". */
  readonly finding: string;
}

/** Sound cards of the lanes; files and commands are left out. */
export function configuredDevices({ lanes }: Config): ConfiguredDevice[] {
  return lanes.flatMap(({ id, capture, playback }) => [
    ...('device' in capture ? [{ lane: id, direction: 'capture' as const, device: capture.device }] : []),
    ...('device' in playback ? [{ lane: id, direction: 'playback' as const, device: playback.device }] : []),
  ]);
}

/** Finds a configured device among the cards; asks ALSA about other names. */
export async function findDevice(
  configured: ConfiguredDevice,
  survey: Survey,
  tools: AlsaTools,
): Promise<DeviceFinding> {
  const { direction, device } = configured;
  const say = (isThere: boolean, finding: string): DeviceFinding => ({ ...configured, isThere, finding });
  const name = parseDeviceName(device);
  const card = survey.cards.find(({ id, index }) => id === name?.card || index === name?.card);
  if (name === null || card === undefined) {
    const answer = await tools.askAbility(direction, device);
    if (answer.ok) return say(true, 'present, from the configuration of ALSA');
    if (/busy/i.test(answer.reason)) return say(true, 'present, in use by another program');
    // The device may be plugged in, but ALSA's configuration or an ALSA plugin hides it.
    const isAbsent = !/Invalid argument|shared library/.test(answer.reason);
    return say(
      false,
      `${isAbsent ? 'not present' : 'cannot be opened'} (${answer.reason})${instead(configured, survey)}`,
    );
  }
  const stream = card.streams.find((one) => one.direction === direction && one.device === name.device);
  if (stream === undefined) {
    return say(false, `the card ${card.id} has no such ${direction} device${instead(configured, survey)}`);
  }
  const advice = typeof name.card === 'number' ? `; card numbers may change, so use "${stream.address}"` : '';
  return say(true, `${stateOf(stream)}${advice}`);
}

function stateOf(stream: SurveyedStream): string {
  return stream.isBusy ? `present, in use by ${describeHolders(stream.holders)}` : 'present and free';
}

function instead({ direction }: ConfiguredDevice, { cards }: Survey): string {
  const other = cards.flatMap((card) => card.streams).find((stream) => stream.direction === direction);
  return other === undefined ? '' : `; available: "${other.address}"`;
}
