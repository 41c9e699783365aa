/** SQL statements of the conversation statistics. */
import type { ConversationSum, StoredConversation } from '../../ports/console-store.ts';
import type { ReportOutcome } from '../../ports/store.ts';
import { REPORTED_WITHIN_MS } from './ledger.ts';
import type { Sql } from './sql-engine.ts';

const KEYS = { day: 'at / 86400000', device: 'device', languages: 'languages' } as const;

export async function addConversation(
  sql: Sql,
  one: StoredConversation,
  most: number,
  now: number,
): Promise<ReportOutcome> {
  const { id, device, durationS, sentences, delayMs, billedS, languages } = one;
  const [known] = await sql.query('SELECT id FROM conversation WHERE id = ?', [id]);
  if (known !== undefined) return 'known';
  const [before] = await sql.query(
    'SELECT count(*) AS count FROM conversation WHERE device = ? AND at >= ?',
    [device, now - REPORTED_WITHIN_MS],
  );
  if (Number(before?.['count']) >= most) return 'implausible';
  await sql.query(
    `INSERT INTO conversation (id, at, device, duration_s, sentences, delay_ms, billed_s, languages)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    [
      id,
      now,
      device,
      Math.round(durationS),
      sentences,
      delayMs === null ? null : Math.round(delayMs),
      Math.round(billedS),
      languages.join(','),
    ],
  );
  return 'new';
}

export async function conversationSums(
  sql: Sql,
  from: number,
  to: number,
  by: keyof typeof KEYS,
): Promise<ConversationSum[]> {
  const rows = await sql.query(
    `SELECT ${KEYS[by]} AS name, count(*) AS conversations, sum(duration_s) AS duration_s, sum(sentences) AS sentences,
       sum(billed_s) AS billed_s, sum(coalesce(delay_ms, 0)) AS delay_ms, count(delay_ms) AS delays
     FROM conversation WHERE at >= ? AND at < ? GROUP BY ${KEYS[by]} ORDER BY ${KEYS[by]}`,
    [from, to],
  );
  return rows.map((row) => ({
    key: String(row['name']),
    conversations: Number(row['conversations']),
    durationS: Number(row['duration_s']),
    sentences: Number(row['sentences']),
    billedS: Number(row['billed_s']),
    delayMs: Number(row['delay_ms']),
    delays: Number(row['delays']),
  }));
}
