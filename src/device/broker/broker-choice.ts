import { brokerName, type MqttConnection } from '../../adapters/mqtt/endpoint.ts';
import type { Brokers } from '../../ports/brokers.ts';
import type { Config } from '../../protocol/config.ts';

type Mqtt = Config['mqtt'];

export interface BrokersParts {
  readonly mqtt: Mqtt;
  /** @throws when a file cannot be read; the returned `password` throws likewise */
  connect(mqtt: Mqtt): MqttConnection;
  /**
   * A file became unreadable: returns its key, and a sentence that names key and file. An exception of this function
   * is a defect.
   */
  unreadable(error: unknown): { readonly key: string; readonly message: string };
}

/** The port `Brokers`, with the parameters of its connections. */
export interface OpenedBrokers extends Brokers {
  connection(to: 'present' | 'configured'): MqttConnection;
}

export function createBrokers({ mqtt, connect, unreadable }: BrokersParts): OpenedBrokers {
  let configured = mqtt;
  let proven: Mqtt | null = null;
  const files = createLastRead<MqttConnection>(unreadable);
  const passwords = createLastRead<string>(unreadable);

  const connectionOf = (to: Mqtt): MqttConnection => {
    const name = nameOf(to);
    const connection = files.read(name, () => connect(to));
    const { password } = connection;
    return password === undefined
      ? connection
      : { ...connection, password: () => passwords.read(name, password) };
  };
  const previous = (): Mqtt | null =>
    proven === null || nameOf(proven) === nameOf(configured) ? null : proven;

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
    change(next) {
      // The configuration check has just read all files.
      files.failing.clear();
      passwords.failing.clear();
      const isOther = nameOf(next) !== nameOf(configured);
      configured = next;
      return isOther;
    },
    settle() {
      proven = configured;
    },
    connection: (to) => connectionOf((to === 'present' ? previous() : null) ?? configured),
  };
}

/** Caches the contents of each file, as a fallback when it becomes unreadable. Each outage is reported once. */
function createLastRead<T>(unreadable: BrokersParts['unreadable']) {
  const known = new Map<string, T>();
  const failing = new Map<string, ReturnType<BrokersParts['unreadable']>>();
  return {
    failing,
    /** @throws the error of `read` if there are no earlier contents */
    read(name: string, read: () => T): T {
      try {
        const access = read();
        known.set(name, access);
        failing.delete(name);
        return access;
      } catch (error) {
        const last = known.get(name);
        if (last === undefined) throw error;
        if (!failing.has(name)) failing.set(name, unreadable(error));
        return last;
      }
    },
  };
}

/** Identifies a connection by its address and login. */
function nameOf({ url, username, passwordFile, caFile, certFile, keyFile, version }: Mqtt): string {
  return JSON.stringify([url, username, passwordFile, caFile, certFile, keyFile, version]);
}
