import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Config, LaneConfig } from '../../protocol/config.ts';
import { mayChangeLoudspeaker, mayChangeMicrophone, mayEnd } from '../lane/quiet-moment.ts';
import {
  type DeviceChange,
  deviceChanges,
  endingLanes,
  newLanes,
  withDevices,
  withLanes,
  withoutLane,
} from '../lane/runner/lane-changes.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';

/** Interval between checks for the end of a sentence (ms). */
const LOOK_EVERY_MS = 500;
/** Longest wait for the end of a sentence (ms): in a loud room, speech may never seem to end. */
const LONGEST_WAIT_MS = 60_000;

/** Changes the running lanes and devices. */
export interface LaneOrders {
  of(id: string): LaneRunner | undefined;
  /** Gives a lane its new devices. */
  renew(change: DeviceChange): void;
  /** Ends the lane with this configuration. Resolves when its devices are free; never rejects. @param isAgain it will be recreated */
  end(lane: LaneConfig, isAgain: boolean): Promise<void>;
  /** Creates and starts these lanes of the configuration in force. */
  startNew(lanes: readonly LaneConfig[], inForce: Config): void;
}

export interface LaneUpkeepDeps {
  readonly orders: LaneOrders;
  readonly clock: Clock;
  readonly log: Log;
  /** The running lanes, as configured by the files. */
  running(): Config;
  /** The newest configuration from the files. */
  wanted(): Config;
  /** Applies a change to both configurations of the running lanes: the one from the files, and the one in force. */
  change(change: (config: Config) => Config): void;
  /** The configuration in force and its lanes have changed. */
  changed(): void;
  /** The configuration in force. */
  inForce(): Config;
  /** The newest configuration from the files, with the desired configuration. */
  desired(): Config;
}

/** Brings the lanes and their devices into line with the files, each lane as soon as it is between two sentences. */
export interface LaneUpkeep {
  look(): void;
  close(): void;
}

export function createLaneUpkeep(deps: LaneUpkeepDeps): LaneUpkeep {
  const { orders, clock, log } = deps;
  const ending = new Set<string>();
  let since: number | null = null;
  let isClosed = false;
  let cancel = (): void => {};

  /** @param may whether a change would interrupt no sentence */
  const isTime = (id: string, may: (lane: LaneRunner, now: number) => boolean): boolean => {
    const now = clock.now();
    const lane = orders.of(id);
    return lane === undefined || may(lane, now) || (since !== null && now - since >= LONGEST_WAIT_MS);
  };
  const end = (id: string): void => {
    const lane = deps.inForce().lanes.find((one) => one.id === id);
    if (lane === undefined) return;
    log.info({ lane: id }, 'the lane ends, as configured');
    ending.add(id);
    const isAgain = deps.wanted().lanes.some((one) => one.id === id);
    void orders.end(lane, isAgain).then(() => {
      ending.delete(id);
      look();
      deps.changed();
    });
    deps.change((config) => withoutLane(config, id));
  };
  const begin = (): void => {
    if (isSameSet(deps.running(), deps.wanted())) return;
    const lanes = newLanes(deps.running(), deps.desired());
    for (const { id } of lanes) log.info({ lane: id }, 'the lane begins, as configured');
    deps.change((config) => withLanes(config, lanes, deps.wanted()));
    if (lanes.length > 0) orders.startNew(lanes, deps.inForce());
    deps.changed();
  };

  const look = (): void => {
    cancel();
    if (isClosed) return;
    let isWaiting = false;
    for (const id of endingLanes(deps.running(), deps.wanted())) {
      // The lanes of a room end together: a remaining one would take the other person for its own speaker.
      const together = deps.running().rooms.find(({ lanes }) => lanes.includes(id))?.lanes ?? [id];
      if (together.every((one) => isTime(one, ({ state }, now) => mayEnd(state, now)))) end(id);
      else isWaiting = true;
    }
    for (const change of deviceChanges(deps.running(), deps.wanted())) {
      if (isTime(change.lane.id, ({ state }, now) => mayChange(change, state, now))) {
        deps.change((config) => withDevices(config, change));
        orders.renew(change);
        deps.changed();
      } else isWaiting = true;
    }
    // A new lane may use the devices of an ending lane.
    const isEnding = ending.size > 0 || endingLanes(deps.running(), deps.wanted()).length > 0;
    if (!isEnding) begin();
    since = isWaiting ? (since ?? clock.now()) : null;
    if (isWaiting) cancel = clock.at(clock.now() + LOOK_EVERY_MS, look, LOOK_EVERY_MS);
  };
  return {
    look,
    close() {
      isClosed = true;
      cancel();
    },
  };
}

function isSameSet(one: Config, other: Config): boolean {
  const setOf = ({ lanes, rooms }: Config): string => JSON.stringify([lanes.map(({ id }) => id), rooms]);
  return setOf(one) === setOf(other);
}

/** Whether a switch to the new devices interrupts no sentence. */
function mayChange({ capture, playback }: DeviceChange, state: LaneRunner['state'], now: number): boolean {
  return (!capture || mayChangeMicrophone(state, now)) && (!playback || mayChangeLoudspeaker(state, now));
}
