/** Follows what the devices publish about themselves. */

import type { Complain } from '../../machine/limited-warnings.ts';
import type { BusMessage, OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { fleetFilters, fleetSender } from '../../protocol/mqtt/topics.ts';
import type { FleetView } from '../fleet/fleet-view.ts';

/** Longest message that is read (characters); with 16 lanes one has about 25,000. */
const LARGEST_CHARS = 65_536;
/** Interval of checks for silent devices (ms). */
const LOOK_EACH_MS = 10_000;

export interface FleetWatchParts {
  readonly openBus: OpenBus;
  readonly prefix: string;
  readonly view: FleetView;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
  /** Called when the status of a device was published or deleted, or its silence has begun or ended. */
  readonly changed: (device: string) => void;
  /** Called when the status or the state of a device was published. */
  readonly heard: (device: string) => void;
}

export interface FleetWatch {
  readonly connected: boolean;
  close(): Promise<void>;
}

export function watchFleet(parts: FleetWatchParts): FleetWatch {
  const { openBus, prefix, view, clock, log, complain, changed, heard } = parts;
  const filters = fleetFilters(prefix);

  /** Time since which all messages arrive; null: they do not. */
  let listeningSince: number | null = null;
  let hearsHealth = true;

  const hear = ({ topic, payload, retain }: BusMessage): void => {
    const sender = fleetSender(prefix, topic);
    if (sender === null) return;
    const { device, noun } = sender;
    const body = payload.length > LARGEST_CHARS ? undefined : parseJson(payload);
    if (noun === 'status' && payload === '') view.forget(device);
    else if (payload === '') return;
    else if (!hearers[noun](device, body, clock.now()))
      return complain(`${noun} ${device}`, { device, noun }, 'cannot read a message of a device');
    const isBack = !retain && view.heard(device, clock.now());
    if (noun === 'status' || isBack) changed(device);
    if (noun !== 'health') heard(device);
    if (view.get(device)?.isImplausible === true)
      complain(`implausible ${device}`, { device }, 'a device reports more than the elapsed time allows');
  };
  const hearers = { status: view.hearStatus, state: view.hearState, health: view.hearHealth };

  const bus = openBus(
    {
      subscriptions: [
        { filter: filters.status, qos: 1, mayBeRefused: true },
        // QoS 0: a lost message is soon followed by the next.
        { filter: filters.state, qos: 0, mayBeRefused: true },
        { filter: filters.health, qos: 0, mayBeRefused: true },
      ],
      will: null,
    },
    {
      refused(refused) {
        hearsHealth = !refused.includes(filters.health);
        if (!hearsHealth) listeningSince = null;
        if (refused.length === 0) return;
        const sentence =
          'the broker does not allow this backend to receive the status, state and health of devices: metrics and webhook lack them. Allow it, or write the rules of the broker again with "dragoman-backend devices add".';
        log.warn({ filters: refused }, sentence);
      },
      up(connection, protocol) {
        listeningSince = hearsHealth ? clock.now() : null;
        log.info({ connection, protocol }, 'following the status of all devices');
      },
      down(problem, message) {
        listeningSince = null;
        complain(message, { problem }, message);
      },
      message: hear,
    },
  );
  let stopLooking = (): void => {};
  const keepLooking = (): void => {
    stopLooking = clock.at(clock.now() + LOOK_EACH_MS, () => {
      for (const device of view.noteSilence(listeningSince, clock.now())) changed(device);
      keepLooking();
    });
  };
  keepLooking();
  return {
    get connected() {
      return bus.connected;
    },
    close() {
      stopLooking();
      return bus.close();
    },
  };
}
