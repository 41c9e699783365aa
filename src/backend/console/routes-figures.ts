/** Cost and conversations: numbers for the owner. */
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore, ConversationSum } from '../../ports/console-store.ts';
import type { Store } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import type { BillKey, BillLine } from '../../protocol/bill.ts';
import {
  type ConversationLine,
  type Conversations,
  type Cost,
  conversationsQuerySchema,
  costQuerySchema,
} from '../../protocol/console-owner.ts';
import { billOf, readMonth, totalOf } from '../bill/bill.ts';
import { csvOf } from '../bill/bill-csv.ts';
import { groupsOf, nameOf } from '../config/owned-devices.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type Call, readQuery } from './call.ts';
import { Refusal } from './refusal.ts';
import type { Handlers } from './router.ts';

const DAY_MS = 86_400_000;
const MOST_DAYS = 400;

export interface FigureParts {
  /** The ledger. */
  readonly ledger: Pick<Store, 'sums'>;
  readonly store: ConsoleStore;
  readonly config: Pick<BackendConfig, 'groups' | 'devices'>;
  readonly fleet: Fleet;
  readonly clock: Clock;
}

type FigureRoute = 'GET /api/conversations' | 'GET /api/cost' | 'GET /api/cost.csv';

export function figureRoutes({
  ledger,
  store,
  config,
  fleet,
  clock,
}: FigureParts): Pick<Handlers, FigureRoute> {
  const bill = async (call: Call) => {
    const { month: text, by } = readQuery(call, costQuerySchema);
    const month = readMonth(text);
    if (month === null)
      throw new Refusal(400, 'invalid', `month: "${text}" is not a month such as "2026-11"`);
    const sums = await ledger.sums(month.from, month.to);
    const lines = (of: BillKey): BillLine[] => billOf(sums, config, of, month, clock.wall() ?? month.to);
    return { month: text, by, lines };
  };
  return {
    'GET /api/cost': async (call) => {
      const { month, by, lines } = await bill(call);
      const cost: Cost = { month, by, lines: lines(by), total: totalOf(lines('device')) };
      return { json: cost };
    },
    'GET /api/cost.csv': async (call) => {
      const { month, by, lines } = await bill(call);
      const headers = { 'Content-Disposition': `attachment; filename="dragoman-${month}-${by}.csv"` };
      const answer = { status: 200, type: 'text/csv; charset=utf-8', body: csvOf(lines(by)), headers };
      return { kind: 'answer', answer };
    },
    'GET /api/conversations': async (call) => {
      const { from, to, by } = readQuery(call, conversationsQuerySchema);
      const [begin, end] = [Date.parse(from), Date.parse(to) + DAY_MS];
      if (end <= begin) throw new Refusal(400, 'invalid', 'to: must not be before "from"');
      if (end - begin > MOST_DAYS * DAY_MS)
        throw new Refusal(400, 'invalid', `to: at most ${MOST_DAYS} days after "from"`);
      const keys = { day: 'day', device: 'device', group: 'device', language: 'languages' } as const;
      const sums = await store.conversations(begin, end, keys[by]);
      const conversations: Conversations = {
        from,
        to,
        by,
        lines: linesOf(sums, (sum) => namesOf(sum.key, by, (device) => groupNames(device, config, fleet))),
        total: addUp('', sums),
      };
      if (by !== 'day')
        return {
          json: {
            ...conversations,
            lines: conversations.lines.toSorted((a, b) => b.conversations - a.conversations),
          },
        };
      return { json: conversations };
    },
  };
}

/** A device's groups: those of the backend's configuration, and those that it reports itself. */
function groupNames(device: string, config: FigureParts['config'], fleet: Fleet): string[] {
  const configured = groupsOf(config, nameOf(device)).map(({ name }) => name);
  const names = new Set([...configured, ...(fleet.devices.get(device)?.row.groups ?? [])]);
  return names.size === 0 ? ['(no group)'] : [...names];
}

function namesOf(
  key: string,
  by: 'day' | 'device' | 'group' | 'language',
  groups: (device: string) => string[],
): string[] {
  switch (by) {
    case 'day':
      return [new Date(Number(key) * DAY_MS).toISOString().slice(0, 10)];
    case 'device':
      return [key];
    case 'group':
      return groups(key);
    case 'language':
      return key === '' ? ['(none)'] : key.split(',');
  }
}

function linesOf(
  sums: readonly ConversationSum[],
  names: (sum: ConversationSum) => string[],
): ConversationLine[] {
  const parts = new Map<string, ConversationSum[]>();
  for (const sum of sums)
    for (const name of names(sum)) {
      const known = parts.get(name);
      if (known === undefined) parts.set(name, [sum]);
      else known.push(sum);
    }
  return [...parts].map(([name, list]) => addUp(name, list));
}

function addUp(name: string, sums: readonly ConversationSum[]): ConversationLine {
  const add = (of: (sum: ConversationSum) => number): number =>
    sums.reduce((total, sum) => total + of(sum), 0);
  const delays = add((sum) => sum.delays);
  return {
    name,
    conversations: add((sum) => sum.conversations),
    minutes: tenths(add((sum) => sum.durationS) / 60),
    sentences: add((sum) => sum.sentences),
    billedMinutes: tenths(add((sum) => sum.billedS) / 60),
    delayMs: delays === 0 ? null : Math.round(add((sum) => sum.delayMs) / delays),
  };
}

const tenths = (value: number): number => Math.round(value * 10) / 10;
