/** The generated parts of docs/operate.md. */

import { CAUSE_ADVICE, EVENT_ADVICE, LOSS_ADVICE, STATUS_ADVICE } from '../../src/core/fleet/advice.ts';
import { LOSS_CAUSES } from '../../src/core/losses/loss-cause.ts';
import { RECOVERY } from '../../src/core/retry/recovery.ts';
import { DEVICE_STATUSES } from '../../src/protocol/mqtt/device.ts';
import { EVENT_KINDS, EVENT_SCHEMAS } from '../../src/protocol/mqtt/event.ts';
import { REASONS } from '../../src/protocol/mqtt/reasons.ts';
import { BROKER_ADVICE, CARD_ADVICE } from './fault-advice.ts';
import { describes } from './schema-table.ts';
import { keysOf, rowsOf, table } from './table.ts';

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
  'card-faults': () => table(['code', 'means', 'what to look at'], rowsOf(CARD_ADVICE)),
  'broker-problems': () => table(['problem', 'means', 'what to look at'], rowsOf(BROKER_ADVICE)),
};
