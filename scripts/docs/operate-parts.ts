/** The generated parts of docs/operate.md. */
import { CONSEQUENCES } from '../../src/backend/core/service-trouble.ts';
import { STATUS_REASONS } from '../../src/core/lane/status.ts';
import { LOSS_CAUSES } from '../../src/core/losses/loss-cause.ts';
import { PHRASE_CODES, PHRASES } from '../../src/core/provisioning/phrases.ts';
import { RECOVERY } from '../../src/core/retry/recovery.ts';
import { DEVICE_STATUSES } from '../../src/protocol/mqtt/device.ts';
import { EVENT_KINDS, EVENT_SCHEMAS } from '../../src/protocol/mqtt/event.ts';
import { CAUSE_ADVICE, EVENT_ADVICE, LOSS_ADVICE, REASON_ADVICE, STATUS_ADVICE } from './advice.ts';
import { BROKER_ADVICE, CARD_ADVICE, DENIAL_ADVICE, SERVICE_ADVICE } from './fault-advice.ts';
import { LOG_LINES } from './log-lines.ts';
import { describes } from './schema-table.ts';

export const OPERATE_PARTS: Readonly<Record<string, () => string>> = {
  statuses: () =>
    table(
      ['status', 'means', 'what to do'],
      DEVICE_STATUSES.map((status) => [
        `\`${status}\``,
        STATUS_ADVICE[status].says,
        STATUS_ADVICE[status].todo,
      ]),
    ),
  'status-reasons': () =>
    table(
      ['reason', 'status', 'means', 'what to look at'],
      keysOf(STATUS_REASONS).map((code) => [
        `\`${code}\``,
        STATUS_REASONS[code].status,
        STATUS_REASONS[code].says,
        REASON_ADVICE[code],
      ]),
    ),
  causes: () =>
    table(
      ['cause', 'what happened', 'what to look at'],
      keysOf(RECOVERY).map((cause) => [`\`${cause}\``, RECOVERY[cause].meaning, CAUSE_ADVICE[cause]]),
    ),
  'loss-causes': () =>
    table(
      ['cause', 'what happened', 'what to look at'],
      keysOf(LOSS_CAUSES).map((cause) => [`\`${cause}\``, LOSS_CAUSES[cause], LOSS_ADVICE[cause]]),
    ),
  'event-advice': () =>
    table(
      ['event', 'means', 'what to do'],
      EVENT_KINDS.map((kind) => [
        `[\`${kind}\`](mqtt.md#${kind})`,
        describes(EVENT_SCHEMAS[kind]),
        EVENT_ADVICE[kind],
      ]),
    ),
  phrases: () =>
    table(
      ['what is said', 'code', 'what to do'],
      PHRASE_CODES.map((code) => [PHRASES[code].words.en, `\`${code}\``, PHRASES[code].advice]),
    ),
  'log-lines': () =>
    table(
      ['by', 'line', 'what to do'],
      LOG_LINES.map(({ by, says, todo }) => [by === 'both' ? 'agent, backend' : by, says, todo]),
    ),
  'card-faults': () => table(['code', 'means', 'what to look at'], rowsOf(CARD_ADVICE)),
  'broker-problems': () => table(['problem', 'means', 'what to look at'], rowsOf(BROKER_ADVICE)),
  denials: () =>
    table(
      ['code', 'means', 'what to look at'],
      [
        ...rowsOf(DENIAL_ADVICE),
        ...keysOf(SERVICE_ADVICE).map((kind) => {
          const { code, title } = CONSEQUENCES[kind];
          return [`\`${code}\``, title, SERVICE_ADVICE[kind]];
        }),
      ],
    ),
};

function rowsOf(advice: Readonly<Record<string, { says: string; todo: string }>>): string[][] {
  return Object.entries(advice).map(([code, { says, todo }]) => [`\`${code}\``, says, todo]);
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function keysOf<T extends object>(object: T): (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[];
}
