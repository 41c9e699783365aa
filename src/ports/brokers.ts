import type { Config } from '../protocol/config.ts';

/** The broker that the configuration names, and the one before it, to which the device can return. */
export interface Brokers {
  /** As messages name it: `mqtts://broker.example:8883`. */
  readonly configured: string;
  /** The one that has taken the device last, where that is another login or address; null: there is no way back. */
  readonly previous: string | null;
  /** Files that could not be read when they were needed last: what was read before is used. */
  readonly unreadable: readonly { readonly key: string; readonly message: string }[];
  /** Where connections go, but those that try the configured one. */
  use(which: 'configured' | 'previous'): void;
  /** The configuration was read again; its files can be used. True: it names another address or login than before. */
  change(mqtt: Config['mqtt']): boolean;
  /** The configured one has taken the device. Null, or why that cannot be kept over a restart. */
  settle(): Promise<string | null>;
}
