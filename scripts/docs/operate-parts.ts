/** The generated parts of docs/operate.md. */

import { AUDIO_FAULTS } from '../../src/ports/audio.ts';
import { BUS_PROBLEMS } from '../../src/ports/bus.ts';
import { CAUSES, LOSS_CAUSES } from '../../src/protocol/mqtt/causes.ts';
import { EVENT_KINDS, EVENT_SCHEMAS, eventTodo } from '../../src/protocol/mqtt/event.ts';
import { REASONS } from '../../src/protocol/mqtt/reasons.ts';
import { STATUSES } from '../../src/protocol/mqtt/statuses.ts';
import { describes } from './schema-table.ts';
import { adviceTable, keysOf, table } from './table.ts';

export const OPERATE_PARTS: Readonly<Record<string, () => string>> = {
  statuses: () => adviceTable('status', 'means', STATUSES),
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
  causes: () => adviceTable('cause', 'what happened', CAUSES),
  'loss-causes': () => adviceTable('cause', 'what happened', LOSS_CAUSES),
  'event-advice': () =>
    table(
      ['event', 'means', 'what to do'],
      EVENT_KINDS.map((kind) => [
        `[\`${kind}\`](mqtt.md#${kind})`,
        describes(EVENT_SCHEMAS[kind]),
        eventTodo(kind),
      ]),
    ),
  'card-faults': () => adviceTable('code', 'means', AUDIO_FAULTS),
  'broker-problems': () => adviceTable('problem', 'means', BUS_PROBLEMS),
};
