import { compareVersions } from '../../src/core/update/package-versions.ts';
import {
  type AgentUnit,
  type Offer,
  type OrderFiles,
  type Releases,
  type Repository,
  type Sighting,
  UpdateTrouble,
} from '../../src/ports/update.ts';
import {
  type Release,
  releaseSchema,
  type UpdateOrder,
  type UpdateStatus,
  updateStatusSchema,
} from '../../src/protocol/common/update.ts';
import type { NodePrograms } from '../../src/updater/obtain.ts';
import { runUpdater } from '../../src/updater/updater.ts';
import type { UpdaterTimes } from '../../src/updater/updater-times.ts';
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts';
import { createModelDisk, type ModelDisk } from './model-disk.ts';

export const INSTALLED = '1.2.0-1';
export const NEW = '1.3.0-1';
export const NODE_VERSION = '24.21.0-1';
const MINUTE = 60_000;

/** What a version does once it runs; left out: everything as before. */
export type Behaviour = Partial<Sighting>;

export const HEALTHY: Sighting = {
  active: true,
  usable: true,
  broker: true,
  backend: true,
  deaf: [],
  readsPerS: 48_000,
  restarts: 0,
  problem: null,
  reports: true,
  network: true,
};

export const releaseOf = (version: string): Release => ({
  version,
  built_at: Date.UTC(2026, 0, 1) / 1000,
  node: { least: '20.12', private: NODE_VERSION },
});

/** A device with the updater, a repository, and no real time. */
export interface World {
  readonly disk: ModelDisk;
  readonly clock: VirtualClock;
  readonly log: string[];
  /** All reports, the last one at the end. */
  readonly reports: UpdateStatus[];
  /** The version that runs. */
  running(): Promise<string>;
  /** The version that the launcher would take now. */
  launched(): Promise<string>;
  readonly restarts: number;
  order(order: UpdateOrder): void;
  readonly waiting: UpdateOrder | null;
  /** Runs the updater until it ends; the time passes as it waits. */
  run(): Promise<void>;
  /** The last report. */
  readonly last: UpdateStatus | undefined;
}

export interface WorldOptions {
  readonly disk?: ModelDisk;
  readonly order?: UpdateOrder | null;
  readonly behaviours?: Readonly<Record<string, Behaviour>>;
  readonly nodes?: NodePrograms;
  /** Versions in the repository. */
  readonly offers?: readonly string[];
  /** Throws what apt says; gets the monotonic time. */
  readonly refresh?: (now: number) => void;
  /** Whether it is a good moment; gets the monotonic time. */
  readonly isGoodMoment?: (now: number) => boolean;
  /** The agent's word from before the start of the updater is there, too. */
  readonly hasOldMoment?: boolean;
  /** Orders cannot be removed. */
  readonly keepsOrders?: boolean;
  readonly wall?: number | null;
  readonly times?: UpdaterTimes;
  /** Called when a package is unpacked. */
  readonly unpacks?: (world: World) => void;
  /** Called at each look at the unit. */
  readonly looked?: (world: World) => void;
}

export const orderOf = (version: string, id = 'order-1'): UpdateOrder => ({
  do: 'update',
  id,
  version,
  manifest_url: null,
  not_before: null,
});

const PROGRAM = 'program';
const RELEASE = 'release.json';

export function createWorld(options: WorldOptions = {}): World {
  const { behaviours = {}, offers = ['1.2.5-1', NEW, '1.4.0-1'], disk = createModelDisk() } = options;
  const clock = createVirtualClock(1000, options.wall === undefined ? Date.UTC(2026, 5, 1) : options.wall);
  const log: string[] = [];
  const reports: UpdateStatus[] = [];
  let waiting = options.order ?? null;
  let running: string | null = null;
  let restarts = 0;
  let avoidsLink = false;
  let { hasOldMoment = false } = options;

  const releases: Releases = {
    async read(folder) {
      const text = await disk.read(`${folder}/${RELEASE}`);
      if (text === null) return null;
      try {
        const release = releaseSchema.parse(JSON.parse(text));
        const program = await disk.read(`${folder}/${PROGRAM}`);
        return program === `program of ${release.version}` ? release : null;
      } catch {
        return null;
      }
    },
  };
  const repository: Repository = {
    async refresh() {
      options.refresh?.(clock.now());
    },
    async find(name, version): Promise<Offer | null> {
      const isThere = name === 'dragoman' ? offers.includes(version) : version === NODE_VERSION;
      return isThere ? { name, version, bytes: 1e6, unpackedBytes: 4e6 } : null;
    },
    async fetch({ name, version }, folder, downloaded) {
      await downloaded();
      options.unpacks?.(world);
      if (name === 'dragoman-node') return disk.put(`${folder}/bin-node`, 'node');
      await disk.put(`${folder}/${RELEASE}`, JSON.stringify(releaseOf(version)));
      await disk.put(`${folder}/${PROGRAM}`, `program of ${version}`);
    },
  };
  /** What the launcher in the package does. */
  const launched = async (): Promise<string> => {
    const version = (await disk.readLink('current'))?.replace(/^versions\//, '');
    if (version === undefined || avoidsLink || compareVersions(version, INSTALLED) <= 0) return INSTALLED;
    return (await releases.read(`versions/${version}`)) === null ? INSTALLED : version;
  };
  const unit: AgentUnit = {
    async look() {
      running ??= await launched();
      options.looked?.(world);
      return { ...HEALTHY, ...behaviours[running] };
    },
    async restart() {
      restarts += 1;
      running = await launched();
    },
  };
  const orders: OrderFiles = {
    order: async () => waiting,
    async took(id) {
      if (waiting?.id === id && options.keepsOrders !== true) waiting = null;
    },
    async forgetMoment() {
      hasOldMoment = false;
    },
    isGoodMoment: async () => hasOldMoment || (options.isGoodMoment?.(clock.now()) ?? true),
    async publish(status) {
      reports.push(updateStatusSchema.parse(status));
    },
    async avoidLink() {
      avoidsLink = true;
    },
  };
  const say = (_: object, sentence: string): void => void log.push(sentence);
  const world: World = {
    disk,
    clock,
    log,
    reports,
    launched,
    running: async () => running ?? (await launched()),
    get restarts() {
      return restarts;
    },
    get waiting() {
      return waiting;
    },
    get last() {
      return reports.at(-1);
    },
    order(order) {
      waiting = order;
    },
    async run() {
      let isOver = false;
      const ended = runUpdater({
        files: disk,
        repository,
        releases,
        unit,
        orders,
        clock,
        log: { trace: say, debug: say, info: say, warn: say, error: say },
        own: releaseOf(INSTALLED),
        ...(options.times === undefined ? {} : { times: options.times }),
        nodes: options.nodes ?? { private: null, system: '20.19.2' },
      }).finally(() => {
        isOver = true;
      });
      // Otherwise the rejection counts as unhandled while the time passes.
      ended.catch(() => {});
      for (let step = 0; !isOver; step++) {
        if (step > 3000) throw new Error('the updater does not end');
        await clock.elapse(options.times?.lookMs ?? (step < 400 ? 2000 : MINUTE));
      }
      await ended;
    },
  };
  return world;
}

/** What apt says without a network, as a sentence. */
export const noNetwork = (): never => {
  throw new UpdateTrouble('the repository cannot be reached', true);
};
