import { insist } from '../../../machine/within.ts';
import type { Bus } from '../../../ports/bus.ts';
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
  /** Filled with the running lanes. */
  readonly lanes: LaneRunner[];
  readonly tokens: {
    request(lane: string, tokenRequest: Parameters<LaneDeps['requestToken']>[0]): void;
    readonly isBackendSilent: boolean;
  };
  /** The tasks that the service accepted last. */
  readonly acceptedTasks: { of(lane: string): TaskOptions | null };
  bus(): Bus | null;
  onStep(step: LaneStep): void;
  watch(listener: (step: LaneStep) => void): () => void;
  /** Lanes were added or removed. */
  lanesChanged(): void;
}

/** The running lanes. */
export interface LaneSet {
  of(id: string): LaneRunner | undefined;
  /** Adds the lanes of `config` that do not exist yet. */
  add(config: Config): void;
  /** Opens the loudspeakers, and starts each lane that starts at boot once its loudspeaker is open or the wait has timed out. */
  start(lanes: readonly LaneConfig[]): Promise<void>;
  /** Adds and starts these lanes of the configuration in force, while the agent runs. */
  startNew(lanes: readonly LaneConfig[], inForce: Config): void;
  /** Gives a lane its newly configured devices. */
  renew(change: DeviceChange): void;
  /** Ends all sessions, within a few seconds. */
  endSessions(): Promise<void>;
  /** Ends a lane and frees its devices. Never rejects. @param isAgain it will be recreated with the operator's settings */
  end(lane: LaneConfig, isAgain: boolean): Promise<void>;
}

/** An operator's settings, for a lane that is created again. */
interface Kept {
  readonly config: LaneConfig;
  readonly options: LaneOptions;
  readonly isWanted: boolean;
}

export function createLaneSet(deps: LaneSetDeps): LaneSet {
  const { clock, log, lanes: all, tokens, defects } = deps;
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
      requestToken: (tokenRequest) => tokens.request(id, tokenRequest),
      acceptedTask: deps.acceptedTasks.of(id),
      // A lane that is added again gets another prefix: answers to the removed lane's requests must not match its own.
      idPrefix: times === 1 ? id : `${id}.${times}`,
      seed: Math.floor(deps.random() * 2 ** 32),
    };
    return new LaneRunner(config, own, deps.onStep);
  };
  const start = async (config: LaneConfig): Promise<void> => {
    const lane = of(config.id);
    if (lane === undefined) return;
    lane.post({ type: 'broker', up: deps.bus()?.connected === true });
    lane.post({ type: 'backend', silent: tokens.isBackendSilent });
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

  const add = ({ lanes, rooms }: Config): void => {
    const seats = createRooms(rooms, clock);
    const more = lanes.filter(({ id }) => of(id) === undefined);
    all.push(...more.map((lane) => create(lane, seats.get(lane.id))));
    const places = lanes.map(({ id }) => id);
    all.sort((one, other) => places.indexOf(one.id) - places.indexOf(other.id));
  };
  const startAll = async (lanes: readonly LaneConfig[]): Promise<void> => {
    await Promise.all(lanes.map(start));
  };
  const end = async (config: LaneConfig, isAgain: boolean): Promise<void> => {
    const lane = of(config.id);
    if (lane === undefined) return;
    const { wanted: isWanted } = lane.state;
    await endSessions([lane]);
    // The conversation has ended with the session, and its end has restored what visitors had changed.
    if (isAgain) kept.set(config.id, { config, options: lane.state.options, isWanted });
    await insist(deps, 'audio', lane.close());
    all.splice(all.indexOf(lane), 1);
    deps.lanesChanged();
  };
  const isDefect = (error: unknown): void => defects('lanes', error);

  return {
    of,
    add,
    start: startAll,
    startNew(lanes, inForce) {
      add(inForce);
      deps.lanesChanged();
      void startAll(lanes).catch(isDefect);
    },
    renew({ lane, capture, playback }) {
      log.info({ lane: lane.id, capture, playback }, 'the lane uses its newly configured devices');
      const { openCapture, openPlayback } = deps.openAudio(lane);
      const devices = { ...(capture && { openCapture }), ...(playback && { openPlayback }) };
      void of(lane.id)
        ?.renew(devices)
        .catch((error: unknown) => defects('new devices', error));
    },
    endSessions: () => endSessions(all),
    end: (config, isAgain) => end(config, isAgain).catch(isDefect),
  };
}
