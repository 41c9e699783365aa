import { BrokerFailure, connectOperator, type OperatorClient } from '../../adapters/ctl/operator-client.ts';
import { readUnverified } from '../../adapters/signing/jws.ts';
import { createSigner } from '../../adapters/signing/signer.ts';
import {
  applyChanges,
  ChangeError,
  type DesiredBody,
  type DesiredChange,
  differences,
  readChange,
} from '../../core/fleet/desired-edit.ts';
import { type ToldReport, toldReportSchema } from '../../core/fleet/told.ts';
import { readEnvelope } from '../../core/owner/signed-message.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { parseJson } from '../../protocol/json.ts';
import { LONGEST_DESIRED } from '../../protocol/mqtt/desired.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { CtlDeps } from './deps.ts';
import { createFleetView } from './fleet-view.ts';
import { plain } from './plain.ts';
import { topicLevel } from './target.ts';
import type { ConfigVerb } from './verbs.ts';

/** What the broker keeps comes at once; when nothing has come for this long, it is all. */
const SETTLED_MS = 500;
const LOOK_EACH_MS = 50;

/** What was found on the broker, and how to publish. */
interface Found {
  readonly client: OperatorClient;
  /** The document of the device or group that was named; null: none, or none that can be read. */
  desired(): DesiredBody | null;
  readonly reports: ReadonlyMap<string, ToldReport>;
  /** The devices that are meant. */
  devices(): readonly string[];
  waitFor(isDone: () => boolean): Promise<boolean>;
}

/** Shows or changes what is desired of the configuration, and waits until the devices report. */
export async function runConfig(verb: ConfigVerb, words: readonly string[], deps: CtlDeps): Promise<void> {
  if (deps.target.kind === 'all') {
    throw new Failure(
      'configuration is of one device or one group: give its name, or --group NAME',
      EXIT.usage,
    );
  }
  const changes = readChanges(verb, words);
  const found = await look(deps);
  try {
    if (verb === 'get') show(found, deps);
    else if (verb === 'diff') compareAll(found, deps);
    else await change(found, changes, deps);
  } finally {
    await found.client.close();
  }
}

function readChanges(verb: ConfigVerb, words: readonly string[]): DesiredChange[] {
  if (verb === 'get' || verb === 'diff') {
    if (words.length > 0) throw new Failure(`config ${verb} takes nothing more`, EXIT.usage);
    return [];
  }
  if (words.length === 0) throw new Failure(`config ${verb}: what? Such as "main.targets=es,fr"`, EXIT.usage);
  try {
    return words.map((word) => readChange(word, verb === 'unset'));
  } catch (error) {
    if (error instanceof ChangeError) throw new Failure(error.message, EXIT.usage);
    throw error;
  }
}

async function look(deps: CtlDeps): Promise<Found> {
  const { topics, target, clock, access, timeoutS } = deps;
  const view = createFleetView(topics, target);
  const device = target.kind === 'device' ? target.device : null;
  const desiredTopic = topics.desired(topicLevel(target));
  const reports = new Map<string, ToldReport>();
  let desired: DesiredBody | null = null;
  let lastNewsAt = clock.now();
  let refusal: string | null = null;
  const client = await connectOperator(
    access.connection,
    clock,
    [desiredTopic, topics.told(device, 'config/reported'), ...view.subscriptions],
    {
      message(message) {
        lastNewsAt = clock.now();
        if (message.topic === desiredTopic) desired = readBody(message.payload);
        else if (!view.receive(message)) {
          const from = topics.read(message.topic);
          const report = toldReportSchema.safeParse(parseJson(message.payload));
          if (from?.rest === 'config/reported' && report.success) reports.set(from.device, report.data);
        }
      },
      refused: (reason) => {
        refusal = reason;
      },
    },
  );
  const waitFor = async (isDone: () => boolean): Promise<boolean> => {
    const endsAt = clock.now() + timeoutS * 1000;
    while (clock.now() < endsAt) {
      if (refusal !== null) throw new BrokerFailure(`the broker did not take it: ${String(refusal)}`);
      if (isDone()) return true;
      await new Promise<void>((go) => clock.at(clock.now() + LOOK_EACH_MS, go));
    }
    return false;
  };
  await waitFor(() => clock.now() - lastNewsAt > SETTLED_MS);
  const devices = (): string[] => (device === null ? view.entries().map((entry) => entry.device) : [device]);
  return { client, reports, devices, waitFor, desired: () => desired };
}

/** What stands in a document, signed or not; whether the signature is right is for the devices to say. */
function readBody(payload: string): DesiredBody | null {
  const envelope = readEnvelope(payload, LONGEST_DESIRED);
  if (envelope.kind === 'plain') return asBody(envelope.json);
  if (envelope.kind !== 'signed') return null;
  const opened = readUnverified(envelope.jws);
  return opened.ok ? asBody(parseJson(opened.content.payload)) : null;
}

function asBody(value: unknown): DesiredBody | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as DesiredBody) : null;
}

function show({ reports, desired, devices }: Found, { shell, options }: CtlDeps): void {
  if (options.json) {
    for (const device of devices()) {
      shell.print(
        `${JSON.stringify({ device, desired: desired(), reported: reports.get(device) ?? null })}\n`,
      );
    }
    return;
  }
  shell.print(`desired: ${plain(JSON.stringify(desired() ?? 'nothing'))}\n`);
  for (const device of devices()) {
    const report = reports.get(device);
    shell.print(
      `${device}: ${report === undefined ? 'has reported nothing' : plain(JSON.stringify(report.effective))}\n`,
    );
    for (const line of errorLines(report)) shell.print(line);
  }
}

function compareAll({ reports, desired, devices }: Found, { shell, options }: CtlDeps): void {
  let count = 0;
  for (const device of devices()) {
    const found = differences(desired() ?? {}, reports.get(device)?.effective);
    count += found.length;
    if (options.json) shell.print(`${JSON.stringify({ device, differences: found })}\n`);
    else if (found.length === 0) shell.print(`${device}: as desired\n`);
    else {
      for (const { key, desired: wanted, effective } of found)
        shell.print(
          `${plain(`${device}: ${key} is ${JSON.stringify(effective) ?? 'not there'}, desired ${JSON.stringify(wanted)}`)}\n`,
        );
    }
  }
  if (count > 0) shell.finish(EXIT.failed);
}

async function change(found: Found, changes: readonly DesiredChange[], deps: CtlDeps): Promise<void> {
  const { shell, topics, target, clock, access, options } = deps;
  const before = found.desired() ?? {};
  const from = target.kind === 'group' ? `group:${target.group}` : 'device';
  const inForce = [...found.reports.values()].map(({ version }) => version[from] ?? 0);
  const known = typeof before['version'] === 'number' ? before['version'] : 0;
  const version = Math.max(known, ...inForce) + 1;
  const body = { ts: timestamp(clock.wall()), ...applyChanges(before, changes, version) };
  const topic = topics.desired(topicLevel(target));
  const base = topic.slice(0, topic.lastIndexOf('/config/'));
  const payload =
    access.signingKey === null
      ? body
      : { jws: await createSigner(access.signingKey).sign('dragoman+config', base, body, clock.wall()) };
  found.client.publish(topic, JSON.stringify(payload), { qos: 1, retain: true });
  const has = (device: string): boolean => {
    const report = found.reports.get(device);
    const isRefused = report?.errors.some((error) => error.from === from && error.key === '') ?? false;
    return (report?.version[from] ?? 0) >= version || isRefused;
  };
  await found.waitFor(() => found.devices().every(has));
  let failed = 0;
  const silent = found.devices().filter((device) => !has(device));
  for (const device of found.devices()) {
    const report = found.reports.get(device);
    const errors = has(device) ? (report?.errors ?? []).filter((error) => error.from === from) : [];
    failed += errors.length > 0 ? 1 : 0;
    const status = !has(device) ? 'silent' : errors.length > 0 ? 'refused' : 'ok';
    if (options.json) shell.print(`${JSON.stringify({ device, status, version, errors })}\n`);
    else if (status === 'silent')
      shell.print(`${device}: has not reported yet; it takes version ${version} when it is there\n`);
    else
      shell.print(
        `${device}: ${status === 'ok' ? `version ${version} is in force` : 'not everything was taken'}\n`,
      );
    if (!options.json)
      for (const { key, message } of errors) shell.print(`  ${plain(`${key || 'the whole'}: ${message}`)}\n`);
  }
  if (failed > 0) shell.finish(EXIT.failed);
  else if (silent.length > 0) shell.finish(EXIT.noAnswer);
}

function errorLines(report: ToldReport | undefined): string[] {
  return (report?.errors ?? []).map(
    ({ from, key, message }) => `  ${plain(`${from} ${key || 'the whole'}: ${message}`)}\n`,
  );
}
