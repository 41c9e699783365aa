import type { Config } from '../protocol/config.ts';

/** The configured broker, and the one that serves the device until the configured one accepts it. */
export interface Brokers {
  /** The form used in messages: `mqtts://broker.example:8883`. */
  readonly configured: string;
  /** The last broker that accepted the device since the start, if it differs from the configured one; null: none. */
  readonly previous: string | null;
  /** Files that could not be read at their last use; their earlier content stays in use. */
  readonly unreadable: readonly { readonly key: string; readonly message: string }[];
  /** The configuration was read again, and its files are usable. Returns whether the broker's address or login has changed. */
  change(mqtt: Config['mqtt']): boolean;
  /** The configured broker has accepted the device. */
  settle(): void;
}
