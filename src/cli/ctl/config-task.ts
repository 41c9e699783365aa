import { randomUUID } from 'node:crypto';
import { suggest } from '../../adapters/config/known-keys.ts';
import { readUnverified } from '../../adapters/signing/jws.ts';
import { readEnvelope } from '../../core/signed-message.ts';
import {
  applyChanges,
  ChangeError,
  type DesiredBody,
  type DesiredChange,
  differences,
  missingLane,
  nextVersion,
  readChange,
} from '../../fleet/desired-edit.ts';
import { changedSince, judgeReport, type Published } from '../../fleet/desired-verdict.ts';
import { type ReceivedReport, receivedReportSchema } from '../../fleet/device-messages.ts';
import { isUnknown } from '../../fleet/roster.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { isObject, parseJson, textAt } from '../../protocol/common/json.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import { LONGEST_DESIRED } from '../../protocol/config-reported.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import { wordReport, wordVerdict } from './config-text.ts';
import type { ConfigVerb } from './ctl-task.ts';
import type { CtlDeps } from './deps.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { createFleetView, type FleetView } from './fleet-view.ts';
import { warnOfLanguages } from './language-warning.ts';
import { nearestTarget } from './nearest.ts';
import { seal } from './seal.ts';
import { registeredIn, topicLevel } from './target.ts';

const LANGUAGE_KEYS: readonly string[] = ['source', 'targets'];

/** Retained messages from the broker, with the open connection. */
interface Found {
  readonly exchange: Exchange;
  /** The target's desired configuration; null: none, or an unreadable one. */
  desired(): DesiredBody | null;
  readonly reports: ReadonlyMap<string, ReceivedReport>;
  readonly view: FleetView;
  /** Devices of the target. */
  devices(): readonly string[];
  /** The devices' known lanes. */
  lanes(): readonly string[];
}

/** Shows or changes the desired configuration, and waits until the devices report. */
export async function runConfig(verb: ConfigVerb, words: readonly string[], deps: CtlDeps): Promise<void> {
  if (deps.target.kind === 'all') {
    throw new Failure('config needs one device or one group: give its name, or --group NAME', EXIT.usage);
  }
  const changes = readChanges(verb, words);
  const found = await look(deps, verb === 'set' || verb === 'unset');
  try {
    if (verb === 'get') show(found, deps);
    else if (verb === 'diff') compareAll(found, deps);
    else await change(found, changes, deps);
  } finally {
    await found.exchange.close();
  }
}

function readChanges(verb: ConfigVerb, words: readonly string[]): DesiredChange[] {
  if (verb === 'get' || verb === 'diff') {
    if (words.length > 0) throw new Failure(`config ${verb} takes no further arguments`, EXIT.usage);
    return [];
  }
  if (words.length === 0)
    throw new Failure(`config ${verb} needs a key, such as "main.targets=es,fr"`, EXIT.usage);
  try {
    return words.map((word) => readChange(word, verb === 'unset'));
  } catch (error) {
    if (error instanceof ChangeError) throw new Failure(error.message, EXIT.usage);
    throw error;
  }
}

/** @param isForChange a change replaces the document, so the document or its absence must be certain */
async function look(deps: CtlDeps, isForChange: boolean): Promise<Found> {
  const { topics, target, timeoutS } = deps;
  const id = randomUUID();
  let isCertain = false;
  const view = createFleetView(topics, target);
  const device = target.kind === 'device' ? target.device : null;
  const desiredTopic = topics.desired(topicLevel(target));
  const reports = new Map<string, ReceivedReport>();
  let desired: DesiredBody | null = null;
  const subscriptions = [
    desiredTopic,
    ...(isForChange ? [topics.marker] : []),
    topics.published(device, 'config/reported'),
    ...view.subscriptions,
  ];
  const exchange = await openExchange(deps, subscriptions, (message) => {
    if (message.topic === desiredTopic) desired = readBody(message.payload);
    else if (message.topic === topics.marker) isCertain ||= textAt(parseJson(message.payload), 'id') === id;
    else if (!view.receive(message)) {
      const from = topics.read(message.topic);
      const report = receivedReportSchema.safeParse(parseJson(message.payload));
      if (from?.rest === 'config/reported' && report.success) reports.set(from.device, report.data);
    }
  });
  if (isForChange) {
    exchange.publish(topics.marker, JSON.stringify({ id }));
    if (
      !(await exchange.waitUntil(
        () => isCertain,
        () => timeoutS * 1000,
      ))
    )
      throw new Failure(
        `nothing was changed: the broker has not sent the present configuration within ${timeoutS} s; try again, or give a longer --timeout`,
        EXIT.noAnswer,
      );
  }
  await exchange.waitUntil(exchange.isSettled, () => timeoutS * 1000);
  const devices = (): string[] => (device === null ? view.entries().map((entry) => entry.device) : [device]);
  const lanes = (): string[] => {
    const states = view.entries().flatMap(({ state }) => state?.lanes.map(({ id }) => id) ?? []);
    return [...new Set([...states, ...[...reports.values()].flatMap(({ effective }) => lanesOf(effective))])];
  };
  return { exchange, reports, view, devices, lanes, desired: () => desired };
}

/** Reads a document, signed or not. The devices verify the signature. */
function readBody(payload: string): DesiredBody | null {
  const envelope = readEnvelope(payload, LONGEST_DESIRED);
  if (envelope.kind === 'plain') return asBody(envelope.json);
  if (envelope.kind !== 'signed') return null;
  const opened = readUnverified(envelope.jws);
  return opened.ok ? asBody(parseJson(opened.content.payload)) : null;
}

function asBody(value: unknown): DesiredBody | null {
  return isObject(value) ? value : null;
}

function show({ reports, view, desired, devices }: Found, { shell, options }: CtlDeps): void {
  if (!options.json) shell.print(textLine(`desired: ${JSON.stringify(desired() ?? 'nothing')}`));
  for (const device of devices()) {
    const report = reports.get(device);
    const state = view.entries().find((entry) => entry.device === device)?.state;
    const changed = changedSince(report?.effective, state?.lanes ?? []);
    if (options.json)
      shell.print(jsonLine({ device, desired: desired(), reported: report ?? null, changed }));
    else for (const line of wordReport(device, report, changed)) shell.print(line);
  }
}

function compareAll({ reports, desired, devices }: Found, { shell, options }: CtlDeps): void {
  let count = 0;
  for (const device of devices()) {
    const different = differences(desired() ?? {}, reports.get(device)?.effective);
    count += different.length;
    if (options.json) shell.print(jsonLine({ device, differences: different }));
    else if (different.length === 0) shell.print(`${device}: as desired\n`);
    else {
      for (const { key, desired: wanted, effective } of different)
        shell.print(
          textLine(
            `${device}: ${key} is ${JSON.stringify(effective) ?? 'not set'}, desired ${JSON.stringify(wanted)}`,
          ),
        );
    }
  }
  if (count > 0) shell.finish(EXIT.failed);
}

/** Checks lane names: every device would refuse an unknown one, and it would stay in the document. @throws Failure */
function checkLanes(found: Found, changes: readonly DesiredChange[]): void {
  const lanes = found.lanes();
  const missing = lanes.length === 0 ? null : missingLane(changes, lanes);
  if (missing === null) return;
  const near = suggest(missing, lanes);
  const hint = near === null ? `there are ${lanes.join(', ')}` : `did you mean "${near}"?`;
  throw new Failure(`there is no lane "${missing}"; ${hint}`, EXIT.usage);
}

/** @throws Failure that names a key that is to be removed, but is not set */
function checkRemovals(before: DesiredBody, changes: readonly DesiredChange[]): void {
  const textOf = (some: readonly DesiredChange[]): string => JSON.stringify(applyChanges(before, some, 0));
  const missing = changes.find((change) => change.value === undefined && textOf([change]) === textOf([]));
  if (missing === undefined) return;
  const { scope, key } = missing;
  const name = scope === '' ? key : `${scope}.${key}`;
  throw new Failure(`"${name}" is not in the desired configuration; "config get" shows it`, EXIT.usage);
}

function lanesOf(effective: unknown): string[] {
  const lanes = isObject(effective) ? effective['lanes'] : null;
  if (!Array.isArray(lanes)) return [];
  return lanes.flatMap((lane: unknown) => textAt(lane, 'id') ?? []);
}

/** Rejects a name without a device: the document would apply to any device that gets this name later. @throws Failure */
async function checkTarget({ view, reports, devices }: Found, deps: CtlDeps): Promise<void> {
  const { target, access, options } = deps;
  const isKnown = devices().some((device) => reports.has(device)) || !view.entries().every(isUnknown);
  if (isKnown || options.new || registeredIn(target, access.registered).length > 0) return;
  const near = await nearestTarget(deps);
  const what = target.kind === 'group' ? `device of the group "${target.group}"` : 'such device';
  const hint = near === null ? '' : `; did you mean "${near}"?`;
  throw new Failure(
    `the broker knows no ${what}${hint === '' ? ';' : `${hint} If not,`} add --new to set it up in advance`,
    EXIT.usage,
  );
}

/** Publishes the changed document, waits for the reports of the devices, and prints them. */
async function change(found: Found, changes: readonly DesiredChange[], deps: CtlDeps): Promise<void> {
  const { shell, topics, target, clock, timeoutS, options } = deps;
  const before = found.desired() ?? {};
  checkLanes(found, changes);
  checkRemovals(before, changes);
  const set = changes.filter(({ value }) => value !== undefined);
  if (set.length > 0) await checkTarget(found, deps);
  warnOfLanguages(
    set.flatMap(({ key, value }) => (LANGUAGE_KEYS.includes(key) ? [value] : [])).flat(),
    shell,
  );
  const from = target.kind === 'group' ? `group:${target.group}` : 'device';
  const present = typeof before['version'] === 'number' ? before['version'] : 0;
  const reported = [...found.reports.values()].map((report) => report.version[from] ?? 0);
  const version = nextVersion(present, reported);
  const body = { ts: timestamp(clock.wall()), ...applyChanges(before, changes, version) };
  const topic = topics.desired(topicLevel(target));
  const about = topic.slice(0, topic.lastIndexOf('/config/'));
  const payload = await seal('dragoman+config', about, body, deps);
  let isTaken = false;
  const ended = (isDelivered: boolean): void => {
    isTaken = isDelivered;
  };
  found.exchange.publish(topic, payload, { qos: 1, retain: true, ended });
  const published: Published = { from, version, body, changes };
  const verdicts = () =>
    found.devices().map((device) => judgeReport(device, found.reports.get(device), published));
  await found.exchange.waitUntil(
    () => verdicts().every(({ status }) => status !== 'silent'),
    () => timeoutS * 1000,
  );
  const judged = verdicts();
  if (!isTaken && judged.some(({ status }) => status === 'silent'))
    throw new Failure(
      `the broker has not confirmed version ${version} within ${timeoutS} s; "config get" shows which one it has`,
      EXIT.noAnswer,
    );
  for (const verdict of judged) {
    if (options.json) shell.print(jsonLine({ ...verdict, version }));
    else for (const line of wordVerdict(verdict, published)) shell.print(line);
  }
  if (judged.some(({ status }) => status === 'refused')) shell.finish(EXIT.failed);
  else if (judged.some(({ status }) => status === 'silent')) shell.finish(EXIT.noAnswer);
}
