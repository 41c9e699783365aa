/**
 * The current roll-out of a version, shared by the backends of one owner. There is one at most. Every operation throws `StoreDown`
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
  /** Whether a backend holds the lease on it now. */
  readonly isDriven: boolean;
}

export interface RolloutStore {
  /** Null: there is none. */
  current(): Promise<StoredRollout | null>;
  /** Replaces the current roll-out by a new one. False: the current one has changed meanwhile. */
  replace(before: RolloutKey | null, next: { readonly id: string; readonly body: string }): Promise<boolean>;
  /** Writes a change of the roll-out. @returns the new revision; null: another writer changed the roll-out meanwhile */
  save(key: RolloutKey, body: string): Promise<number | null>;
  /** Takes or extends the lease on the roll-out. Null: there is no roll-out, or another instance has the lease. */
  drive(instance: string, leaseMs: number): Promise<RolloutKey | null>;
  /** Releases the lease, so that the next instance need not wait for its end. */
  leave(instance: string): Promise<void>;
  close(): Promise<void>;
}
