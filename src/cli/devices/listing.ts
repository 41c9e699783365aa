import { describeHolders, type Span } from '../../adapters/audio/cards/card.ts';
import type {
  OfferedDevice,
  Survey,
  SurveyedCard,
  SurveyedStream,
} from '../../adapters/audio/cards/survey.ts';
import { neutralise, wrapColumns } from '../demo/display-text.ts';
import { adviseOn, suggestDevices } from './advice.ts';
import type { DeviceFinding } from './configured.ts';

/** Column of a stream's details: after the longer word of "capture" and "playback". */
const COLUMN = 12;

/** Formats the survey for a terminal of this width. Ends with a newline. */
export function listDevices(survey: Survey, findings: readonly DeviceFinding[], columns: number): string {
  const blocks = [
    ...survey.cards.map((card) => listCard(card, columns)),
    listOffered(survey.software, columns),
    listFindings(findings, columns),
    ...adviseOn(survey).map(({ message, lines }) => [
      ...wrapColumns(message, columns),
      ...lines.flatMap((line) => fitLine(line, columns)),
    ]),
    findings.length === 0 ? suggest(survey, columns) : [],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

/** Leaves a line that users copy unbroken if it fits; otherwise breaks it after a backslash, as shells and rules files allow. */
function fitLine(line: string, columns: number): string[] {
  if (line.length + 2 <= columns) return [`  ${line}`];
  if (line.length <= columns) return [line];
  const at = line.lastIndexOf(' ', columns - 2);
  return at < 0 ? [line] : [`${line.slice(0, at)} \\`, ...fitLine(line.slice(at + 1), columns)];
}

function listCard(card: SurveyedCard, columns: number): string[] {
  const { name, index, id, usb, streams } = card;
  const place = usb?.port === null || usb?.port === undefined ? '' : `, USB socket ${usb.port.split(':')[0]}`;
  return [
    ...wrapColumns(`${neutralise(name)} (${id}, card ${index} now${place})`, columns),
    ...(streams.length === 0 ? ['  no audio devices'] : []),
    ...streams.flatMap((stream) => listStream(stream, columns)),
  ];
}

function listStream(stream: SurveyedStream, columns: number): string[] {
  const { direction, address, holders, places } = stream;
  const details: string[] = [describeAbility(stream)];
  if (stream.isBusy) details.push(`busy: in use by ${describeHolders(holders)}`);
  else if (holders.length > 0)
    details.push(`used by ${describeHolders(holders)}; ${places - holders.length} places free`);
  const indent = ' '.repeat(COLUMN);
  return [
    `  ${direction.padEnd(COLUMN - 2)}${address}`,
    ...details.flatMap((text) => wrapColumns(text, columns - COLUMN)).map((line) => indent + line),
  ];
}

function describeAbility({ ability, silence, address }: SurveyedStream): string {
  const { channels, rates, formats } = ability;
  if (formats.length === 0) {
    const hint = address.startsWith('sysdefault:') ? '; is a screen connected?' : '';
    return `abilities unknown: ${neutralise(silence ?? 'not reported')}${hint}`;
  }
  const parts = [
    channels.length === 0 ? '' : `${describeSpans(channels)} ${isOne(channels) ? 'channel' : 'channels'}`,
    rates.length === 0 ? '' : `${describeSpans(rates)} Hz`,
    formats.join(', '),
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function describeSpans(spans: readonly Span[]): string {
  return spans.map(({ least, most }) => (least === most ? String(least) : `${least}-${most}`)).join(', ');
}

function isOne(spans: readonly Span[]): boolean {
  return spans.every(({ most }) => most === 1);
}

function listOffered(devices: readonly OfferedDevice[], columns: number): string[] {
  if (devices.length === 0) return [];
  const heading = 'From the configuration of ALSA (devices of a sound server work only while it runs):';
  return [
    ...wrapColumns(heading, columns),
    ...devices.flatMap(({ name, description, directions }) => {
      const text = `${directions.join(', ')}${description === '' ? '' : `: ${neutralise(description)}`}`;
      const label = `  ${neutralise(name)}`;
      const [first = '', ...others] = wrapColumns(text, columns - COLUMN);
      const indent = ' '.repeat(COLUMN);
      const head = label.length < COLUMN ? [label.padEnd(COLUMN) + first] : [label, indent + first];
      return [...head, ...others.map((line) => indent + line)];
    }),
  ];
}

function listFindings(findings: readonly DeviceFinding[], columns: number): string[] {
  if (findings.length === 0) return [];
  return [
    'In the configuration:',
    ...findings.flatMap(({ lane, direction, device, finding }) => [
      `  lane ${lane}, ${direction}: "${neutralise(device)}"`,
      ...wrapColumns(neutralise(finding), columns - 4).map((line) => `    ${line}`),
    ]),
  ];
}

function suggest(survey: Survey, columns: number): string[] {
  const { capture, playback } = suggestDevices(survey);
  const lines = [
    ...(capture === null ? [] : [`"capture": { "device": "${capture}" }`]),
    ...(playback === null ? [] : [`"playback": { "device": "${playback}" }`]),
  ];
  if (lines.length === 0) return [];
  return [
    ...wrapColumns('For a lane of the configuration (or use other names from above):', columns),
    ...lines.map((line, index) => `  ${line}${index < lines.length - 1 ? ',' : ''}`),
  ];
}
