/** The generated parts of docs/operate.md. */

import { CAUSES, LOSS_CAUSES } from '../../src/protocol/mqtt/causes.ts';
import { EVENT_KINDS, EVENT_SCHEMAS, eventTodo } from '../../src/protocol/mqtt/event.ts';
import { REASONS } from '../../src/protocol/mqtt/reasons.ts';
import { STATUSES } from '../../src/protocol/mqtt/statuses.ts';
import { BROKER_ADVICE, CARD_ADVICE } from './fault-advice.ts';
import { describes } from './schema-table.ts';
import { keysOf, rowsOf, table } from './table.ts';

export const OPERATE_PARTS: Readonly<Record<string, () => string>> = {
  statuses: () =>
    table(
      ['status', 'means', 'what to do'],
      keysOf(STATUSES).map((status) => [`\`${status}\``, STATUSES[status].means, STATUSES[status].todo]),
    ),
  'status-reasons': () =>
    table(
      ['reason', 'status', 'means', 'what to do'],
      keysOf(REASONS).map((code) => [
        `\`${code}\``,
        REASONS[code].status,
        REASONS[code].means,
        REASONS[code].todo,
      ]),
    ),
  causes: () =>
    table(
      ['cause', 'what happened', 'what to do'],
      keysOf(CAUSES).map((cause) => [`\`${cause}\``, CAUSES[cause].means, CAUSES[cause].todo]),
    ),
  'loss-causes': () =>
    table(
      ['cause', 'what happened', 'what to do'],
      keysOf(LOSS_CAUSES).map((cause) => [`\`${cause}\``, LOSS_CAUSES[cause].means, LOSS_CAUSES[cause].todo]),
    ),
  'event-advice': () =>
    table(
      ['event', 'means', 'what to do'],
      EVENT_KINDS.map((kind) => [
        `[\`${kind}\`](mqtt.md#${kind})`,
        describes(EVENT_SCHEMAS[kind]),
        eventTodo(kind),
      ]),
    ),
  'card-faults': () => table(['code', 'means', 'what to look at'], rowsOf(CARD_ADVICE)),
  'broker-problems': () => table(['problem', 'means', 'what to look at'], rowsOf(BROKER_ADVICE)),
};
