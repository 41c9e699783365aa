import type { RolloutKey, RolloutStore } from '../../ports/rollout-store.ts';
import { migrate } from './migrations.ts';
import type { Sql, SqlEngine, SqlRow } from './sql-engine.ts';

export function createRolloutStore(engine: SqlEngine): RolloutStore {
  let migrated: Promise<void> | null = null;
  const transact = async <T>(
    work: (sql: Sql, now: number) => Promise<T>,
    lock: string | null = null,
  ): Promise<T> => {
    migrated ??= migrate(engine).catch((error: unknown) => {
      migrated = null;
      throw error;
    });
    await migrated;
    return engine.transact(lock, async (sql) => {
      const [row] = await sql.query(`SELECT ${engine.now} AS now`);
      return work(sql, Number(row?.['now']));
    });
  };

  return {
    current: () =>
      transact(async (sql, now) => {
        const [row] = await sql.query('SELECT id, revision, body, lease_until FROM rollout');
        if (row === undefined) return null;
        const isDriven = Number(row['lease_until']) > now;
        return { ...keyOf(row), body: String(row['body']), isDriven };
      }),
    replace: (before, { id, body }) =>
      transact(async (sql) => {
        if (before !== null)
          await sql.query('DELETE FROM rollout WHERE id = ? AND revision = ?', [before.id, before.revision]);
        const [other] = await sql.query('SELECT id FROM rollout');
        if (other !== undefined) return false;
        await sql.query(
          "INSERT INTO rollout (id, revision, instance, lease_until, body) VALUES (?, 1, '', 0, ?)",
          [id, body],
        );
        return true;
      }, 'rollout'),
    save: ({ id, revision }, body) =>
      transact(async (sql) => {
        const [row] = await sql.query(
          'UPDATE rollout SET body = ?, revision = revision + 1 WHERE id = ? AND revision = ? RETURNING revision',
          [body, id, revision],
        );
        return row === undefined ? null : Number(row['revision']);
      }),
    drive: (instance, leaseMs) =>
      transact(async (sql, now) => {
        const [row] = await sql.query(
          'UPDATE rollout SET instance = ?, lease_until = ? WHERE instance = ? OR lease_until < ? RETURNING id, revision',
          [instance, now + leaseMs, instance, now],
        );
        return row === undefined ? null : keyOf(row);
      }),
    leave: (instance) =>
      transact(async (sql) => {
        await sql.query('UPDATE rollout SET lease_until = 0 WHERE instance = ?', [instance]);
      }),
    close: () => engine.close(),
  };
}

const keyOf = (row: SqlRow): RolloutKey => ({ id: String(row['id']), revision: Number(row['revision']) });
