/** Receives the fleet's messages for a roll-out, over a separate connection that is open only during a roll-out. */

import type { Complain } from '../../machine/limited-warnings.ts';
import type { Bus, BusMessage, OpenBus, PublishOptions } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { commandResponseSchema } from '../../protocol/mqtt/command.ts';
import { deviceIdSchema, deviceTopics, fleetSender, nameSchema } from '../../protocol/mqtt/topics.ts';
import { groupsOf, isAllowed, nameOf } from '../config/owned-devices.ts';
import { clean, cleanSentence } from '../fleet/clean.ts';
import { createFleetView, type DeviceView } from '../fleet/fleet-view.ts';
import type { OrderAnswer, SeenDevice } from './device-entry.ts';
import type { Seen } from './step.ts';

/** Time for the broker to send the whole fleet's retained messages after connecting (ms). */
const SETTLED_AFTER_MS = 10_000;
/** Longest message that is read (characters), as for the metrics. */
const LARGEST_CHARS = 65_536;
const AWAY = ['offline', 'lost'];

/** The devices' reports, without the data of the ledger. */
export type Heard = Omit<Seen, 'billedMs'>;

export interface FleetListener {
  /** Whether the whole fleet's retained messages have arrived. */
  readonly isSettled: boolean;
  /** Time without a connection (ms); 0: connected. */
  readonly downForMs: number;
  /** Returns the reports since the last `took`. */
  look(): Heard;
  /** Marks reports as processed: `look` does not return them again. */
  took(heard: Heard): void;
  publish(topic: string, payload: string, options: PublishOptions): void;
  /** Adds the answer for an order that did not reach the broker. */
  failed(answer: OrderAnswer): void;
  close(): Promise<void>;
}

export interface FleetListenerParts {
  readonly openBus: OpenBus;
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
  /** Whether a roll-out is for this device. */
  readonly isMeant: (device: string) => boolean;
}

export function openFleetListener({
  openBus,
  prefix,
  clock,
  log,
  complain,
  isMeant,
}: FleetListenerParts): FleetListener {
  const view = createFleetView();
  const any = deviceTopics({ prefix, tenant: '+', device: '+' });
  const conversations = new Map<string, number>();
  const answers: OrderAnswer[] = [];
  /** Lost and unspoken speech that was already counted, by device (ms). */
  const counted = new Map<string, number>();
  let upAt: number | null = null;
  let downAt = clock.now();
  let lookedAt = clock.now();

  const hearAnswer = (device: string, payload: string): void => {
    const parsed = commandResponseSchema.safeParse(parseJson(payload));
    if (!parsed.success || parsed.data.status === 'accepted') return;
    const { id, status, error } = parsed.data;
    const message = cleanSentence(error?.message ?? '');
    answers.push({ device, id, status, code: clean(error?.code ?? '', 60), message });
  };
  const hear = ({ topic, payload, retain }: BusMessage): void => {
    if (payload.length > LARGEST_CHARS) return;
    const sender = fleetSender(prefix, topic);
    if (sender?.noun === 'status' && payload === '') {
      counted.delete(sender.device);
      return view.forget(sender.device);
    }
    if (sender?.noun === 'status') return void view.hearStatus(sender.device, parseJson(payload));
    if (sender?.noun === 'state') return void view.hearState(sender.device, parseJson(payload), clock.now());
    const other = senderOf(prefix, topic);
    if (other === null || retain) return;
    const { device, rest } = other;
    if (rest === 'event/conversation_ended') conversations.set(device, (conversations.get(device) ?? 0) + 1);
    if (rest === 'cmd/update/res') hearAnswer(device, payload);
  };
  const bus: Bus = openBus(
    {
      subscriptions: [
        { filter: any.status, qos: 1, mayBeRefused: true },
        // QoS 0: a lost message is soon followed by the next.
        { filter: any.state, qos: 0, mayBeRefused: true },
        { filter: any.event('conversation_ended'), qos: 1, mayBeRefused: true },
        { filter: any.commandResponse('update'), qos: 1, mayBeRefused: true },
      ],
      will: null,
    },
    {
      refused(filters) {
        const sentence =
          'the broker does not allow this backend to follow a roll-out: give the backend the rights listed in docs/console.md, or write the rules again with "dragoman-backend devices add"';
        if (filters.length > 0) log.warn({ filters }, sentence);
      },
      up() {
        upAt = clock.now();
        lookedAt = clock.now();
      },
      down(problem, message) {
        if (upAt !== null) downAt = clock.now();
        upAt = null;
        complain(`rollout ${message}`, { problem }, message);
      },
      message: hear,
    },
  );

  const troubleOf = ({ sums }: DeviceView): number => sums.lostMs + sums.unspokenMs;
  const seenAs = (name: string, device: DeviceView): SeenDevice => {
    const { status, version, boot, update, isImplausible } = device;
    return {
      isConnected: status !== null && !AWAY.includes(status),
      version,
      boot,
      isImplausible,
      troubleMs: troubleOf(device) - (counted.get(name) ?? 0),
      update: update === null ? null : { ...update, reason: update.reason && cleanSentence(update.reason) },
    };
  };

  return {
    get isSettled() {
      return upAt !== null && clock.now() - upAt >= SETTLED_AFTER_MS;
    },
    get downForMs() {
      return upAt === null ? clock.now() - downAt : 0;
    },
    look() {
      const devices = new Map<string, SeenDevice>();
      let unsupported = 0;
      for (const [name, one] of view.devices()) {
        // The state of a device arrives after its status.
        if (one.status === null || one.boot === null || !isMeant(name)) continue;
        if (one.update === null) unsupported += 1;
        else devices.set(name, seenAs(name, one));
      }
      return {
        devices,
        unsupported,
        elapsedMs: clock.now() - lookedAt,
        conversations: new Map(conversations),
        answers: [...answers],
      };
    },
    took(seen) {
      lookedAt += seen.elapsedMs;
      answers.splice(0, seen.answers.length);
      for (const [name, count] of seen.conversations) {
        const left = (conversations.get(name) ?? 0) - count;
        if (left > 0) conversations.set(name, left);
        else conversations.delete(name);
      }
      for (const [name, { troubleMs }] of seen.devices)
        counted.set(name, (counted.get(name) ?? 0) + troubleMs);
    },
    publish: (topic, payload, options) => bus.publish(topic, payload, options),
    failed: (answer) => void answers.push(answer),
    close: () => bus.close(),
  };
}

/** Whether a roll-out to this group is for the device. */
export function isMeant(
  config: Pick<BackendConfig, 'allow' | 'groups'>,
  device: string,
  group: string | null,
): boolean {
  const who = nameOf(device);
  if (!isAllowed(config, who)) return false;
  return group === null || groupsOf(config, who).some(({ name }) => name === group);
}

function senderOf(prefix: string, topic: string): { device: string; rest: string } | null {
  if (!topic.startsWith(`${prefix}/`)) return null;
  const [tenant = '', device = '', ...rest] = topic.slice(prefix.length + 1).split('/');
  const isDevice = nameSchema.safeParse(tenant).success && deviceIdSchema.safeParse(device).success;
  return isDevice ? { device: `${tenant}/${device}`, rest: rest.join('/') } : null;
}
