import type { Span } from '../../adapters/audio/cards/card.ts';
import type { Survey, SurveyedStream } from '../../adapters/audio/cards/survey.ts';
import type { DevicesReport } from '../../protocol/devices-report.ts';
import { adviseOn, suggestDevices } from './advice.ts';
import type { DeviceFinding } from './configured.ts';

/** Formats the survey as one JSON object. */
export function reportDevices(survey: Survey, findings: readonly DeviceFinding[]): DevicesReport {
  return {
    kernel_sound: survey.hasKernelSound,
    alsa_tools: survey.hasAlsaTools,
    cards: survey.cards.map(({ id, index, name, driver, usb, isAllowed, streams }) => ({
      id,
      index,
      name,
      driver,
      usb: usb === null ? null : { port: usb.port, model: usb.model },
      allowed: isAllowed,
      devices: streams.map(reportStream),
    })),
    software: survey.software,
    configured: findings.map(({ lane, direction, device, isThere, finding }) => ({
      lane,
      direction,
      device,
      there: isThere,
      finding,
    })),
    suggested: suggestDevices(survey),
    advice: adviseOn(survey),
  };
}

function reportStream(stream: SurveyedStream): DevicesReport['cards'][number]['devices'][number] {
  const { direction, device, name, address, ability, silence, places, holders, isBusy } = stream;
  return {
    direction,
    device: address,
    number: device,
    name,
    formats: ability.formats,
    channels: ability.channels.map(reportSpan),
    rates: ability.rates.map(reportSpan),
    unknown_because: silence,
    places,
    busy: isBusy,
    held_by: holders.map(({ pid, program }) => ({ pid, program })),
  };
}

function reportSpan({ least, most }: Span): { min: number; max: number } {
  return { min: least, max: most };
}
