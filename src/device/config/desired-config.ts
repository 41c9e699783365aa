import { createHash } from 'node:crypto';
import { readUnverified } from '../../adapters/signing/jws.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { judgeSigned, readEnvelope } from '../../core/signed-message.ts';
import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import { createRepublish } from '../../machine/republish.ts';
import { createThrottle, type Throttle } from '../../machine/throttle.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Opening } from '../../ports/signature.ts';
import type { StateFile } from '../../ports/state-file.ts';
import type { Config } from '../../protocol/config.ts';
import { type DesiredFault, LONGEST_DESIRED, type ReportedMessage } from '../../protocol/config-reported.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { Connection } from '../features/feature.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';
import { createBatchedWriter } from '../state-files/batched-writer.ts';
import { readKept } from '../state-files/kept-state.ts';
import { explainFault } from '../tokens/answer-rules.ts';
import { readDesired, writeDesired } from './desired-file.ts';
import {
  type DesiredDocument,
  effectiveOf,
  findNamer,
  readDocument,
  resolveDesired,
} from './desired-rules.ts';

/** Shortest interval of `config/reported` (ms). */
const REPORT_INTERVAL_MS = 1000;
/** Maximum nesting that is read: deeper than any valid document. */
const DEEPEST = 16;

export interface DesiredConfigDeps {
  readonly topics: DeviceTopics;
  readonly groups: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  /** Keeps the last accepted documents across restarts; null: they are not kept. */
  readonly file: StateFile | null;
  /** Called with a reason when the documents cannot be saved, and with null once they can be saved again. */
  kept(problem: string | null): void;
  readonly signatures: SignedContentReader | null;
  /** The configuration without any desired document. */
  readonly base: Config;
  /** The desired keys that the service refuses, with reasons. */
  refusedTasks(): readonly RefusedKeys[];
  /** Puts a configuration in force; running streams continue if they can. */
  apply(config: Config): void;
}

/**
 * The owner's desired configuration: reads documents, keeps the last good one, and reports the configuration in
 * force.
 */
export interface DesiredConfig {
  /** The device's configuration with all accepted documents. */
  readonly config: Config;
  readonly subscriptions: readonly string[];
  /** False if the topic is not a document's. */
  receive(message: BusMessage): boolean;
  /** A message was too large to be read. */
  oversized(topic: string): void;
  /** The device's own configuration was read again. */
  rebase(base: Config): void;
  /** The refusals of the service have changed. */
  refusalsChanged(): void;
  trust(signatures: SignedContentReader | null): void;
  /** A connection is up: reports the configuration in force. */
  connected(connection: Pick<Connection, 'bus'>): void;
  close(): Promise<void>;
}

/** Keys of a lane that the service refuses. */
export interface RefusedKeys {
  readonly lane: string;
  readonly keys: readonly string[];
  readonly message: string;
}

/** The origin of a document. */
interface Place {
  readonly from: string;
  readonly topic: string;
  /** The topic base that a signed document must name. */
  readonly base: string;
}

export function createDesiredConfig(deps: DesiredConfigDeps): DesiredConfig {
  const { topics, clock, log } = deps;
  const places = placesOf(topics, deps.groups);
  const kept = readKept(
    { file: deps.file, log, parse: readDesired, late: takeLate },
    'cannot read the desired configuration from before the last start; ignoring it',
  );
  // Documents of groups that the device no longer belongs to are dropped.
  const documents = new Map((kept ?? []).filter(isOfPlace).map((one) => [one.from, one]));
  /** Faults of a document as a whole, by origin: the last good one stays in force. */
  const refusals = new Map<string, DesiredFault>();
  let { base, signatures } = deps;
  let resolved = resolve();
  let bus: Bus | null = null;
  let closed = false;
  const report: Throttle = createThrottle(clock, REPORT_INTERVAL_MS, publish);
  const again = createRepublish(clock);
  const writer =
    deps.file === null
      ? null
      : createBatchedWriter(deps.file, clock, serialize, (problem) => {
          deps.kept(problem);
          if (problem === null) log.info({}, 'the desired configuration is saved again');
          else log.warn({}, `${problem}; the desired configuration will not survive a restart`);
        });

  function isOfPlace({ from }: DesiredDocument): boolean {
    return places.some((place) => place.from === from);
  }
  /** Adds documents that the disk delivered late. Those received meanwhile are newer, unless they have a lower signed version. */
  function takeLate(before: readonly DesiredDocument[]): void {
    for (const one of before.filter(isOfPlace)) {
      const since = documents.get(one.from);
      const isSame = since !== undefined && isSameBody(since, one);
      if (since === undefined || isSame || (signatures !== null && since.version < one.version))
        documents.set(one.from, one);
    }
    writer?.changed();
    changed();
  }
  function inOrder(): DesiredDocument[] {
    return places.flatMap(({ from }) => documents.get(from) ?? []);
  }
  function resolve() {
    return resolveDesired(base, inOrder());
  }
  function serialize(): string {
    return writeDesired(inOrder());
  }
  /** Desired keys that the service refuses. The lane itself reports refusals of the device's own configuration. */
  function refusedByService(): DesiredFault[] {
    return deps.refusedTasks().flatMap(({ lane, keys, message }) => {
      const namer = findNamer(base, inOrder(), resolved.errors, lane, keys);
      return namer === null ? [] : [{ ...namer, message }];
    });
  }
  function publish(): void {
    const errors = [...refusals.values(), ...resolved.errors, ...refusedByService()];
    const body = reportOf(resolved.config, inOrder(), errors, timestamp(clock.wall()));
    const ended = (isDelivered: boolean): void => {
      if (isDelivered || !closed) again.ended(topics.configReported, isDelivered, report.request);
    };
    bus?.publish(topics.configReported, JSON.stringify(body), { qos: 1, retain: true, ended });
  }
  const changed = (): void => {
    resolved = resolve();
    deps.apply(resolved.config);
    report.request();
  };
  const refuse = ({ from }: Place, message: string): void => {
    refusals.set(from, { from, key: '', message });
    const sentence = `config/desired was rejected, and the last good one stays in force: ${message}`;
    logRepeated(deps, { level: 'warn', kind: `desired:${from}`, fields: { from }, sentence });
    report.request();
  };
  const take = (place: Place, body: unknown): void => {
    const document = readDocument(place.from, body);
    if (typeof document === 'string') return refuse(place, document);
    const known = documents.get(place.from);
    if (signatures !== null && known !== undefined && document.version < known.version) {
      return refuse(place, `version: ${document.version} is older than ${known.version}, which is in force`);
    }
    refusals.delete(place.from);
    if (known !== undefined && isSameBody(known, document)) return report.request();
    documents.set(place.from, { ...document, kept: resolved.inForce.get(place.from) });
    writer?.changed();
    logRepeated(deps, {
      level: 'info',
      kind: `desired:taken:${place.from}`,
      fields: { from: place.from, version: document.version },
      sentence: 'config/desired was accepted',
    });
    changed();
  };
  const clear = (place: Place): void => {
    // Any client with publish rights can clear a topic; only the owner can sign.
    if (signatures !== null)
      return refuse(
        place,
        'it was cleared, and a cleared topic has no signature: publish a newer signed document without settings instead',
      );
    refusals.delete(place.from);
    if (!documents.delete(place.from)) return report.request();
    writer?.changed();
    changed();
  };
  const open = (place: Place, opening: Opening): void => {
    if (!opening.ok) return refuse(place, explainFault(opening.why));
    const judged = judgeSigned(opening.content, { type: 'dragoman+config', devices: [place.base], id: null });
    if (judged.ok) take(place, judged.body);
    else refuse(place, explainFault(judged.why));
  };

  return {
    get config() {
      return resolved.config;
    },
    subscriptions: places.map(({ topic }) => topic),
    receive({ topic, payload }) {
      const place = places.find((one) => one.topic === topic);
      if (place === undefined) return false;
      if (payload === '') {
        clear(place);
        return true;
      }
      const envelope = readEnvelope(payload, LONGEST_DESIRED);
      if (envelope.kind === 'unreadable') refuse(place, explainFault(envelope.why));
      else if (envelope.kind === 'plain' && signatures === null) take(place, envelope.json);
      else if (envelope.kind === 'plain') refuse(place, explainFault('unsigned'));
      else if (signatures === null) open(place, readUnverified(envelope.jws));
      else signatures.open(envelope.jws, (opening) => open(place, opening));
      return true;
    },
    oversized(topic) {
      const place = places.find((one) => one.topic === topic);
      if (place !== undefined) refuse(place, explainFault('oversized'));
    },
    rebase(next) {
      base = next;
      changed();
    },
    refusalsChanged: () => report.request(),
    trust(given) {
      signatures = given;
    },
    connected(connection) {
      ({ bus } = connection);
      again.forget();
      report.request();
    },
    close() {
      closed = true;
      report.cancel();
      again.forget();
      return writer?.flush() ?? Promise.resolve();
    },
  };
}

function isSameBody(one: DesiredDocument, other: DesiredDocument): boolean {
  return JSON.stringify(one.body) === JSON.stringify(other.body);
}

/** The configuration in force, with a hash that anyone can verify. */
function reportOf(
  config: Config,
  documents: readonly DesiredDocument[],
  errors: DesiredFault[],
  ts: ReportedMessage['ts'],
): ReportedMessage {
  const effective = effectiveOf(config);
  const text = canonicalJson(effective, DEEPEST) ?? '';
  return {
    ts,
    version: Object.fromEntries(documents.map(({ from, version }) => [from, version])),
    hash: createHash('sha256').update(text).digest('hex'),
    effective,
    errors,
  };
}

/** Lowest precedence first: the groups as configured, then the device itself. */
function placesOf(topics: DeviceTopics, groups: readonly string[]): Place[] {
  const ofGroups = groups.map((group) => ({
    from: `group:${group}`,
    topic: topics.groupDesired(group),
    base: topics.groupBase(group),
  }));
  return [...ofGroups, { from: 'device', topic: topics.configDesired, base: topics.base }];
}
