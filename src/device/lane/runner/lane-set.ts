import { insist } from '../../../machine/within.ts';
import type { Config, LaneConfig } from '../../../protocol/config.ts';
import type { AgentDeps } from '../../deps/deps.ts';
import type { LaneOptions, TaskOptions } from '../state/lane-options.ts';
import { whenAllClosed } from './all-closed.ts';
import { optionsAgain } from './configured-options.ts';
import type { DeviceChange } from './lane-changes.ts';
import { type LaneDeps, LaneRunner, type LaneStep } from './lane-runner.ts';
import { createRooms, type RoomSeat } from './rooms.ts';

/** Time limit for lanes to end their sessions (ms). */
const ENDING_LIMIT_MS = 4000;

/** Dependencies that a lane shares with the others. */
type Shared = Omit<
  LaneDeps,
  'openCapture' | 'openPlayback' | 'seat' | 'requestToken' | 'acceptedTask' | 'idPrefix' | 'seed'
>;

export interface LaneSetDeps extends Shared, Pick<AgentDeps, 'openAudio' | 'random'> {
  requestToken(lane: string, tokenRequest: Parameters<LaneDeps['requestToken']>[0]): void;
  /** The task that the service accepted last. */
  acceptedTask(lane: string): TaskOptions | null;
  onStep(step: LaneStep): void;
  watch(listener: (step: LaneStep) => void): () => void;
  /** Tells a new lane whether broker and backend are available. */
  inform(lane: LaneRunner): void;
  /** A lane has ended. */
  gone(): void;
}

/** The running lanes. `all` changes in place, because others hold a reference to it. */
export interface LaneSet {
  readonly all: readonly LaneRunner[];
  of(id: string): LaneRunner | undefined;
  /** Adds the lanes of `config` that do not exist yet. */
  add(config: Config): void;
  /** Opens the loudspeakers, and starts each lane that starts at boot once its loudspeaker is open or the wait has timed out. */
  start(lanes: readonly LaneConfig[]): Promise<void>;
  /** Gives a lane its newly configured devices. */
  renew(change: DeviceChange): void;
  /** Ends the session of each of these lanes, within a few seconds. */
  endSessions(lanes: readonly LaneRunner[]): Promise<void>;
  /** Ends a lane and frees its devices. @param isAgain it will be recreated with the operator's settings */
  end(lane: LaneConfig, isAgain: boolean): Promise<void>;
}

/** An operator's settings, for a lane that is created again. */
interface Kept {
  readonly config: LaneConfig;
  readonly options: LaneOptions;
  readonly isWanted: boolean;
}

export function createLaneSet(deps: LaneSetDeps): LaneSet {
  const { clock, log } = deps;
  const all: LaneRunner[] = [];
  const kept = new Map<string, Kept>();
  /** Number of times that each lane was created. */
  const begun = new Map<string, number>();

  const of = (id: string): LaneRunner | undefined => all.find((lane) => lane.id === id);
  const create = (config: LaneConfig, seat: RoomSeat | undefined): LaneRunner => {
    const { id } = config;
    const times = (begun.get(id) ?? 0) + 1;
    begun.set(id, times);
    const own: LaneDeps = {
      ...deps,
      ...deps.openAudio(config),
      seat,
      requestToken: (tokenRequest) => deps.requestToken(id, tokenRequest),
      acceptedTask: deps.acceptedTask(id),
      // A lane that is added again gets another prefix: answers to the removed lane's requests must not match its own.
      idPrefix: times === 1 ? id : `${id}.${times}`,
      seed: Math.floor(deps.random() * 2 ** 32),
    };
    return new LaneRunner(config, own, deps.onStep);
  };
  const start = async (config: LaneConfig): Promise<void> => {
    const lane = of(config.id);
    if (lane === undefined) return;
    deps.inform(lane);
    await lane.open();
    const before = kept.get(config.id);
    kept.delete(config.id);
    if (before !== undefined) {
      const options = { ...before.options, ...optionsAgain(before.config, config) };
      lane.post({ type: 'options', options });
    }
    if (before?.isWanted ?? config.start !== 'command') lane.post({ type: 'start' });
  };
  const endSessions = async (lanes: readonly LaneRunner[]): Promise<void> => {
    const closed = whenAllClosed(lanes, clock, clock.now() + ENDING_LIMIT_MS, deps.watch);
    for (const lane of lanes) lane.post({ type: 'shutdown' });
    if (!(await closed)) log.warn({}, 'a session did not end in time and was terminated');
  };

  return {
    all,
    of,
    add({ lanes, rooms }) {
      const seats = createRooms(rooms, clock);
      const more = lanes.filter(({ id }) => of(id) === undefined);
      all.push(...more.map((lane) => create(lane, seats.get(lane.id))));
      const places = lanes.map(({ id }) => id);
      all.sort((one, other) => places.indexOf(one.id) - places.indexOf(other.id));
    },
    async start(lanes) {
      await Promise.all(lanes.map(start));
    },
    renew({ lane, capture, playback }) {
      log.info({ lane: lane.id, capture, playback }, 'the lane uses its newly configured devices');
      const { openCapture, openPlayback } = deps.openAudio(lane);
      const devices = { ...(capture && { openCapture }), ...(playback && { openPlayback }) };
      void of(lane.id)
        ?.renew(devices)
        .catch((error: unknown) => deps.defects('new devices', error));
    },
    endSessions,
    async end(config, isAgain) {
      const lane = of(config.id);
      if (lane === undefined) return;
      const { wanted: isWanted } = lane.state;
      await endSessions([lane]);
      // The end of the session has also ended the conversation, and so undone the visitors' settings.
      if (isAgain) kept.set(config.id, { config, options: lane.state.options, isWanted });
      await insist(deps, 'audio', lane.close());
      all.splice(all.indexOf(lane), 1);
      deps.gone();
    },
  };
}
