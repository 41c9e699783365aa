import { isObject, textAt } from '../protocol/common/json.ts';
import {
  applyChanges,
  type DesiredBody,
  type DesiredChange,
  type DesiredDifference,
  differences,
} from './desired-edit.ts';
import type { ReceivedLane, ReceivedReport } from './device-messages.ts';

type Faults = ReceivedReport['errors'];

/** A document as published, and the changes that led to it. */
export interface Published {
  /** `device`, or `group:lobby`. */
  readonly from: string;
  readonly version: number;
  readonly body: DesiredBody;
  readonly changes: readonly DesiredChange[];
}

/** Result of a document's version on one device. */
export interface Verdict {
  readonly device: string;
  /** `refused`: a changed key, or the whole document, was refused. */
  readonly status: 'ok' | 'refused' | 'silent';
  /** Reasons for changed keys, and for the whole document. */
  readonly errors: Faults;
  /** Rejected keys of the document that this change did not touch. */
  readonly older: Faults;
  /** Names of the changed keys that are in force. */
  readonly applied: readonly string[];
  /** Changed keys for which another value is in force, although no error was reported. */
  readonly overridden: readonly DesiredDifference[];
}

const nameOf = ({ scope, key }: DesiredChange): string => (scope === '' ? key : `${scope}.${key}`);

/** The key of a fault as an operator types it: `main.volume` for `lanes[0].volume`; empty: the whole document. */
export function nameOfFault(body: DesiredBody, key: string): string {
  const [, index = '', rest = ''] = /^lanes\[(\d+)\](.*)$/.exec(key) ?? [];
  const lane = Array.isArray(body['lanes']) ? textAt(body['lanes'][Number(index)], 'id') : undefined;
  return index === '' || lane === undefined ? key : `${lane}${rest}`;
}

/** Whether one of two key names contains the other, as a lane contains its keys and a schedule its parts. */
function meets(one: string, other: string): boolean {
  const contains = (outer: string, inner: string): boolean =>
    outer === '' || inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  return contains(one, other) || contains(other, one);
}

/** What a device's report says about a published document. */
export function judgeReport(
  device: string,
  report: ReceivedReport | undefined,
  { from, version, body, changes }: Published,
): Verdict {
  const faults = (report?.errors ?? []).filter((fault) => fault.from === from);
  const isWholeRefused = faults.some(({ key }) => key === '');
  const nothing = { device, errors: [], older: [], applied: [], overridden: [] };
  if ((report?.version[from] ?? 0) < version && !isWholeRefused) return { ...nothing, status: 'silent' };
  if (isWholeRefused) return { ...nothing, status: 'refused', errors: faults };
  const isOfChange = ({ key }: Faults[number]): boolean =>
    changes.some((change) => meets(nameOf(change), nameOfFault(body, key)));
  const errors = faults.filter(isOfChange);
  const isRefused = (name: string): boolean => errors.some(({ key }) => meets(name, nameOfFault(body, key)));
  const set = changes.filter(({ value }) => value !== undefined);
  const overridden = differences(applyChanges({}, set, version), report?.effective).filter(
    ({ key }) => !isRefused(key),
  );
  const applied = set
    .map(nameOf)
    .filter((name) => !isRefused(name) && !overridden.some(({ key }) => key === name));
  const older = faults.filter((fault) => !isOfChange(fault));
  return { device, status: errors.length > 0 ? 'refused' : 'ok', errors, older, applied, overridden };
}

/** A value in force that differs from the configured one: a command or a visitor has changed it. */
export interface ChangedValue {
  readonly key: string;
  readonly now: unknown;
}

/** @param lanes as the device's state describes them */
export function changedSince(effective: unknown, lanes: readonly ReceivedLane[]): ChangedValue[] {
  const configured = isObject(effective) && Array.isArray(effective['lanes']) ? effective['lanes'] : [];
  return lanes.flatMap(({ id, source, targets, volume, echo, refused_task }) => {
    const lane: unknown = configured.find((one: unknown) => textAt(one, 'id') === id);
    if (!isObject(lane)) return [];
    // Languages that the service refuses are among the report's errors.
    const languages = refused_task === null ? { source, targets } : {};
    const running = { ...languages, volume, echo: echo['wanted'] };
    return Object.entries(running).flatMap(([key, now]) =>
      now === undefined || now === null || JSON.stringify(now) === JSON.stringify(lane[key])
        ? []
        : [{ key: `${id}.${key}`, now }],
    );
  });
}
