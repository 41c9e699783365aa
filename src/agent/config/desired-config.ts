import { createHash } from 'node:crypto';
import { readUnverified } from '../../adapters/signing/jws.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import {
  type DesiredDocument,
  effectiveOf,
  findNamer,
  readDocument,
  resolveDesired,
} from '../../core/owner/desired-rules.ts';
import { judgeSigned, readEnvelope } from '../../core/owner/signed-message.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Opening } from '../../ports/signature.ts';
import type { StateFile } from '../../ports/state-file.ts';
import type { Config } from '../../protocol/config.ts';
import { type DesiredFault, LONGEST_DESIRED, type ReportedMessage } from '../../protocol/mqtt/desired.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { createSaidAgain } from '../broker/said-again.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';
import { logRepeated, type RepeatFilter } from '../repeat-filter.ts';
import { createBatchedWriter } from '../state-files/batched-writer.ts';
import { readKept } from '../state-files/kept-state.ts';
import { createThrottle, type Throttle } from '../throttle.ts';
import { explainFault } from '../tokens/answer-reader.ts';
import { readDesired, writeDesired } from './desired-file.ts';

/** `config/reported` is published at most this often. */
const REPORT_INTERVAL_MS = 1000;
/** Deeper than any document. */
const DEEPEST = 16;

export interface DesiredConfigDeps {
  readonly topics: DeviceTopics;
  readonly groups: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  /** What was taken last, for the next start; null: it is not kept. */
  readonly file: StateFile | null;
  /** It cannot be kept, and why; null: it can again. */
  kept(problem: string | null): void;
  readonly signatures: SignedContentReader | null;
  /** The configuration without any document. */
  readonly base: Config;
  /** What the service does not take of what is ordered, and why. */
  refusedTasks(): readonly RefusedKeys[];
  /** Puts what is desired into force; what is running goes on where it can. */
  apply(config: Config): void;
}

/** What the owner desires of the configuration: takes it in, keeps the last good one, and reports what is in force. */
export interface DesiredConfig {
  /** The configuration with what was desired before the last start. */
  readonly config: Config;
  readonly subscriptions: readonly string[];
  /** False when the topic is none of them. */
  receive(message: BusMessage): boolean;
  /** Something too large to be read has come. */
  oversized(topic: string): void;
  /** The device's own configuration was read again. */
  rebase(base: Config): void;
  /** What the service takes has changed. */
  refusalsChanged(): void;
  trust(signatures: SignedContentReader | null): void;
  /** A connection is up: tells what is in force. */
  connected(bus: Bus): void;
  close(): Promise<void>;
}

/** Keys of a lane that the service does not take. */
export interface RefusedKeys {
  readonly lane: string;
  readonly keys: readonly string[];
  readonly message: string;
}

/** Where a document comes from. */
interface Place {
  readonly from: string;
  readonly topic: string;
  /** The topic base that a signed one must be for. */
  readonly base: string;
}

export function createDesiredConfig(deps: DesiredConfigDeps): DesiredConfig {
  const { topics, clock, log } = deps;
  const places = placesOf(topics, deps.groups);
  const kept = readKept(
    { file: deps.file, log, parse: readDesired, late: takeLate },
    'what was desired before the last start cannot be read and is forgotten',
  );
  // A group that the device no longer belongs to is forgotten.
  const documents = new Map((kept ?? []).filter(isOfPlace).map((one) => [one.from, one]));
  /** What is wrong with a document as a whole, by whose it is: the last good one stays in force. */
  const refusals = new Map<string, DesiredFault>();
  let { base, signatures } = deps;
  let resolved = resolve();
  let bus: Bus | null = null;
  let closed = false;
  const report: Throttle = createThrottle(clock, REPORT_INTERVAL_MS, publish);
  const again = createSaidAgain(clock);
  const writer =
    deps.file === null
      ? null
      : createBatchedWriter(deps.file, clock, serialize, (problem) => {
          deps.kept(problem);
          if (problem === null) log.info({}, 'what is desired is kept again');
          else log.warn({}, `${problem}; what is desired is not kept over a restart`);
        });

  function isOfPlace({ from }: DesiredDocument): boolean {
    return places.some((place) => place.from === from);
  }
  /** What has come since is the owner's last word; where only that is signed, nobody may bring an older one meanwhile. */
  function takeLate(before: readonly DesiredDocument[]): void {
    for (const one of before.filter(isOfPlace)) {
      const since = documents.get(one.from);
      if (since === undefined || (signatures !== null && since.version < one.version))
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
  /** What the device's own configuration has is told by its lane. */
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
    const sentence = `config/desired was not taken, and the last good one stays in force: ${message}`;
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
    const isSame = known !== undefined && JSON.stringify(known.body) === JSON.stringify(document.body);
    if (isSame) return report.request();
    documents.set(place.from, document);
    writer?.changed();
    logRepeated(deps, {
      ...{
        level: 'info',
        kind: `desired:taken:${place.from}`,
        fields: { from: place.from, version: document.version },
      },
      sentence: 'config/desired was taken',
    });
    changed();
  };
  const clear = (place: Place): void => {
    // Anybody who may publish can clear a topic; only the owner can sign.
    if (signatures !== null)
      return refuse(place, 'it was cleared, which nobody can sign: publish a newer one without keys instead');
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
    connected(joined) {
      bus = joined;
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

/** What is in force, with a hash that anybody can check. */
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

/** In the order in which they count: groups as configured, then the device's own. */
function placesOf(topics: DeviceTopics, groups: readonly string[]): Place[] {
  const ofGroups = groups.map((group) => ({
    ...{ from: `group:${group}`, topic: topics.groupDesired(group), base: topics.groupBase(group) },
  }));
  return [...ofGroups, { from: 'device', topic: topics.configDesired, base: topics.base }];
}
