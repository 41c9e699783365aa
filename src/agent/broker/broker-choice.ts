import { z } from 'zod';
import { brokerName, type MqttConnection } from '../../adapters/mqtt/endpoint.ts';
import type { Brokers } from '../../ports/brokers.ts';
import type { StateFile, StateFound } from '../../ports/state-file.ts';
import { type Config, configSchema } from '../../protocol/config.ts';
import { parseJson } from '../../protocol/json.ts';

type Mqtt = Config['mqtt'];

/** The kept broker: names of files, no secrets. */
const keptSchema = z.strictObject({ format: z.literal(1), mqtt: configSchema.shape.mqtt });

export interface BrokersParts {
  readonly mqtt: Mqtt;
  /** Keeps the last broker that accepted the device; null if nothing outlives the program. */
  readonly file: StateFile | null;
  /** @throws when a file cannot be read; so does its `password` */
  connect(mqtt: Mqtt): MqttConnection;
  /**
   * A file became unreadable: returns its key, and a sentence that names both. An exception of this function is a
   * defect.
   */
  unreadable(error: unknown): { readonly key: string; readonly message: string };
  /** The kept broker is unreadable, for this reason. */
  forgotten(file: string, reason: string): void;
}

/** The port, with the parameters for the connection. */
export interface OpenedBrokers extends Brokers {
  connection(to: 'present' | 'configured'): MqttConnection;
}

export function createBrokers({ mqtt, file, connect, unreadable, forgotten }: BrokersParts): OpenedBrokers {
  let configured = mqtt;
  let last: Mqtt | null = null;
  readLast(file, forgotten, (found) => {
    // A broker that accepted the device meanwhile is newer.
    last ??= found;
  });
  /** The file holds `last`, or will soon. */
  let isKept = true;
  let uses: 'configured' | 'previous' = 'configured';
  const files = createLastRead<MqttConnection>(unreadable);
  const passwords = createLastRead<string>(unreadable);
  let writing: Promise<unknown> = Promise.resolve();

  const connectionOf = (to: Mqtt): MqttConnection => {
    const name = nameOf(to);
    const connection = files.read(name, () => connect(to));
    const { password } = connection;
    return password === undefined
      ? connection
      : { ...connection, password: () => passwords.read(name, password) };
  };
  const previous = (): Mqtt | null => {
    if (last === null || nameOf(last) === nameOf(configured)) return null;
    try {
      connectionOf(last);
      return last;
    } catch {
      // Its files are gone: there is no way back.
      return null;
    }
  };

  return {
    get configured() {
      return brokerName({ url: configured.url, clientId: '' });
    },
    get previous() {
      const before = previous();
      return before === null ? null : brokerName({ url: before.url, clientId: '' });
    },
    get unreadable() {
      return [...files.failing.values(), ...passwords.failing.values()];
    },
    use(which) {
      uses = which;
    },
    change(next) {
      // The configuration check has just read all of them.
      files.failing.clear();
      passwords.failing.clear();
      const isOther = nameOf(next) !== nameOf(configured);
      configured = next;
      return isOther;
    },
    settle() {
      uses = 'configured';
      if (last !== null && nameOf(last) === nameOf(configured) && isKept) return Promise.resolve(null);
      last = configured;
      if (file === null) return Promise.resolve(null);
      isKept = true;
      const text = JSON.stringify({ format: 1, mqtt: configured });
      const written = writing.then(() => file.write(text));
      writing = written;
      return written.then((result) => {
        isKept &&= result.ok;
        return result.ok ? null : result.message;
      });
    },
    connection(to) {
      const before = to === 'present' && uses === 'previous' ? previous() : null;
      return connectionOf(before ?? configured);
    },
  };
}

/** Remembers the last contents of each file, for when it becomes unreadable. Each outage is reported once. */
function createLastRead<T>(unreadable: BrokersParts['unreadable']) {
  const known = new Map<string, T>();
  const failing = new Map<string, ReturnType<BrokersParts['unreadable']>>();
  return {
    failing,
    /** @throws the error of `read` if there are no earlier contents */
    read(name: string, read: () => T): T {
      try {
        const found = read();
        known.set(name, found);
        failing.delete(name);
        return found;
      } catch (error) {
        const last = known.get(name);
        if (last === undefined) throw error;
        if (!failing.has(name)) failing.set(name, unreadable(error));
        return last;
      }
    },
  };
}

/** Two connections are the same if address and login are. */
function nameOf({ url, username, passwordFile, caFile, certFile, keyFile }: Mqtt): string {
  return JSON.stringify([url, username, passwordFile, caFile, certFile, keyFile]);
}

function readLast(
  file: StateFile | null,
  forgotten: BrokersParts['forgotten'],
  known: (last: Mqtt) => void,
): void {
  if (file === null) return;
  const take = (found: StateFound): void => {
    if (found.kind === 'unreadable') return forgotten(file.name, found.why);
    if (found.kind === 'none') return;
    const kept = keptSchema.safeParse(parseJson(found.text));
    if (kept.success) known(kept.data.mqtt);
    else forgotten(file.name, 'it is damaged');
  };
  const reading = file.read();
  if (reading.kind !== 'awaited') return take(reading);
  if (reading.isOverdue) forgotten(file.name, 'the disk takes too long');
  reading.whenFound(take);
}
