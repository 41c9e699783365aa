import type { Config } from '../protocol/config.ts';

/** The configured broker, and the one before it, to which the device can return. */
export interface Brokers {
  /** The form used in messages: `mqtts://broker.example:8883`. */
  readonly configured: string;
  /** The last broker that accepted the device, if its login or address differs; null: there is no way back. */
  readonly previous: string | null;
  /** Files that could not be read at their last use; their earlier content is used. */
  readonly unreadable: readonly { readonly key: string; readonly message: string }[];
  /** Selects the broker for connections, except those that try the configured one. */
  use(which: 'configured' | 'previous'): void;
  /** The configuration was read again and its files are usable. Returns whether its address or login differs from before. */
  change(mqtt: Config['mqtt']): boolean;
  /** The configured broker has accepted the device. Returns null, or why that cannot be stored. */
  settle(): Promise<string | null>;
}
