/** The common interface of the two databases: statements with `?` for each value, and transactions. */

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface Sql {
  /** Runs one statement, and returns its rows. */
  query(statement: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  /** Runs a statement that may take hours in a large database, such as creating an index. */
  change(statement: string): Promise<void>;
}

export interface SqlEngine {
  readonly dialect: 'sqlite' | 'postgres';
  /** Expression for the database's clock, milliseconds since 1970. */
  readonly now: string;
  /** Clause at the end of a SELECT that locks its rows and skips those that another instance has locked. */
  readonly skipLocked: string;
  /**
   * Runs a transaction. Everything is undone if `work` throws.
   * @param lock only one transaction with this name runs at a time; null: none is needed
   * @throws StoreDown, StoreRefused or ValueRefused, or what `work` throws
   */
  transact<T>(lock: string | null, work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Takes a further lock, until the end of the transaction. Later reads see what the lock's previous holder wrote. */
  lock(sql: Sql, name: string): Promise<void>;
  close(): Promise<void>;
}
