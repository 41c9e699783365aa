/**
 * The present roll-out of a version, shared by the backends of one owner. There is one at most. Every operation throws `StoreDown`
 * or `StoreRefused` if it fails, and then has changed nothing.
 */

export interface RolloutKey {
  readonly id: string;
  /** Rises with each change. */
  readonly revision: number;
}
export interface StoredRollout extends RolloutKey {
  /** JSON. */
  readonly body: string;
  /** Whether a backend works on it now. */
  readonly isDriven: boolean;
}

export interface RolloutStore {
  /** Null: there is none. */
  current(): Promise<StoredRollout | null>;
  /** Puts a new roll-out in the place of the present one. False: that has changed meanwhile. */
  replace(before: RolloutKey | null, next: { readonly id: string; readonly body: string }): Promise<boolean>;
  /** Writes a change of the roll-out. @returns the new revision; null: another writer changed the roll-out meanwhile */
  save(key: RolloutKey, body: string): Promise<number | null>;
  /** Lets one instance work on it for `leaseMs`, and then again. Null: there is none, or it is another's. */
  drive(instance: string, leaseMs: number): Promise<RolloutKey | null>;
  /** The next instance need not wait for the end of the lease. */
  leave(instance: string): Promise<void>;
  close(): Promise<void>;
}
