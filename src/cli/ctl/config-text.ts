import { type ChangedValue, nameOfFault, type Published, type Verdict } from '../../fleet/desired-verdict.ts';
import type { ReceivedReport } from '../../fleet/device-messages.ts';
import { textLine } from '../../protocol/common/plain-text.ts';

/** Describes a device's verdict on a published document. */
export function wordVerdict(verdict: Verdict, { version, body, from }: Published): string[] {
  const { device, status, errors, older, applied, overridden } = verdict;
  const fault = ({ key, message }: Verdict['errors'][number]): string =>
    textLine(`  ${nameOfFault(body, key) || 'whole document'}: ${message}`);
  const stronger = from === 'device' ? '' : ', from a later group or its own document';
  const others = overridden.map(
    ({ key, effective }) => `  ${key} is still ${JSON.stringify(effective) ?? 'not set'}${stronger}`,
  );
  const words = {
    ok: `version ${version} is in force`,
    refused: `some keys were rejected${applied.length === 0 ? '' : `; in force: ${applied.join(', ')}`}`,
    silent: `no report yet; it will apply version ${version} when it is online`,
  };
  return [
    textLine(`${device}: ${words[status]}`),
    ...errors.map(fault),
    ...others.map(textLine),
    ...(older.length === 0
      ? []
      : ['  rejected since an earlier version:\n', ...older.map((one) => `  ${fault(one)}`)]),
  ];
}

/** Describes a device's configuration report. */
export function wordReport(
  device: string,
  report: ReceivedReport | undefined,
  changed: readonly ChangedValue[],
): string[] {
  if (report === undefined) return [textLine(`${device}: no report yet`)];
  const values = changed.map(({ key, now }) => `${key} is ${JSON.stringify(now)}`);
  return [
    textLine(`${device}, from files and documents: ${JSON.stringify(report.effective)}`),
    ...(values.length === 0 ? [] : [textLine(`  changed by commands or visitors: ${values.join(', ')}`)]),
    ...report.errors.map(({ from, key, message }) =>
      textLine(`  ${from} ${key || 'whole document'}: ${message}`),
    ),
  ];
}
