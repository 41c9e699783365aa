import { sleep } from '../adapters/sleep.ts';
import { judge, MOST_BOOTS, openGate } from '../core/update/health-gate.ts';
import { compareVersions, packageVersion, plainVersion } from '../core/update/package-versions.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import {
  type AgentUnit,
  type OrderFiles,
  type Releases,
  type Repository,
  type UpdateFiles,
  UpdateTrouble,
} from '../ports/update.ts';
import { agentHealthSchema, type Release, type UpdateOrder, type VersionOrder } from '../protocol/update.ts';
import type { Memory } from './memory.ts';
import { type NodePrograms, obtain } from './obtain.ts';
import type { UpdaterTimes } from './updater-times.ts';
import type { VersionFolders } from './version-folders.ts';

/** The unit is checked at every 15th look while the agent does not answer. */
const LOOKS_PER_LOOK_AT_UNIT = 15;
const MOST_DOUBLINGS = 10;

export interface UpdaterDeps {
  readonly files: UpdateFiles;
  readonly repository: Repository;
  readonly releases: Releases;
  readonly unit: AgentUnit;
  readonly orders: OrderFiles;
  readonly clock: Clock;
  readonly log: Log;
  /** The installed package. */
  readonly own: Release;
  readonly nodes: NodePrograms;
  readonly times?: UpdaterTimes;
}

export interface UpdateDeps extends UpdaterDeps {
  readonly times: UpdaterTimes;
  readonly folders: VersionFolders;
  readonly memory: Memory;
}

/** Runs one update after the other. Throws only on bugs of this program. */
export interface Update {
  /** Continues after a start of the machine. */
  carryOn(): Promise<void>;
  obey(order: UpdateOrder): Promise<void>;
}

/** Thrown when a newer order waits. */
class Superseded extends Error {}

export function createUpdate(deps: UpdateDeps): Update {
  const { unit, orders, clock, log, folders, memory, own, times } = deps;
  const pause = (ms: number) => sleep(clock, ms);

  /** Waits, unless a newer order comes. @throws Superseded */
  const pauseUnlessOrdered = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    do {
      await pause(times.lookMs);
      if ((await orders.order()) !== null) throw new Superseded();
    } while (clock.now() < until);
  };

  /** Downloads, and retries as long as the trouble may resolve itself. */
  const obtainPatiently = async (order: VersionOrder): Promise<void> => {
    const giveUpAt = clock.now() + times.patienceMs;
    for (let factor = 1; ; factor = Math.min(MOST_DOUBLINGS, factor * 2)) {
      try {
        return await obtain(order, {
          ...deps,
          step: async (stage, progress) => {
            if (memory.record.stage !== stage) await memory.save({ stage });
            await memory.tell(null, progress);
          },
        });
      } catch (error) {
        if (!(error instanceof UpdateTrouble) || !error.mayPass || clock.now() >= giveUpAt) throw error;
        log.warn({}, `retrying the download: ${error.message}`);
        await memory.tell(error.message);
      }
      await pauseUnlessOrdered(factor * times.retryMs);
    }
  };

  /** Waits until a restart interrupts no speech or conversation, at most a day. */
  const awaitMoment = async ({ id, not_before: notBefore }: VersionOrder): Promise<void> => {
    await memory.save({ stage: 'ready', reason: null });
    if (notBefore !== null) {
      const unsetUntil = clock.now() + times.patienceMs;
      const isTooEarly = (wall: number | null): boolean =>
        wall === null ? clock.now() < unsetUntil : wall < Date.parse(notBefore);
      for (let wall = clock.wall(); isTooEarly(wall); wall = clock.wall()) {
        const unset =
          wall === null ? ', and the clock of this device is not set; connect it to a time server' : '';
        const reason = `it is scheduled for ${notBefore}${unset}`;
        if (reason !== memory.record.reason) await memory.tell(reason);
        await pauseUnlessOrdered(times.lookMs);
      }
    }
    // Takes a first sample of the agent's read rate, for the comparison at the switch.
    await unit.look();
    await orders.forgetMoment();
    await memory.tell('it waits for the end of speech and conversation, at most a day', null, true);
    const until = clock.now() + times.patienceMs;
    for (let looks = 0; clock.now() < until; looks++) {
      if (await orders.isGoodMoment(id)) return;
      if (looks % LOOKS_PER_LOOK_AT_UNIT === 0 && !(await unit.look()).active) return;
      await pauseUnlessOrdered(times.lookMs);
    }
    log.warn({}, 'no quiet moment came for a day: the update takes place now');
  };

  const switchOver = async (): Promise<void> => {
    const to = memory.record.to ?? own.version;
    const before = agentHealthSchema.parse(await unit.look());
    await memory.save({ stage: 'switching', before, reason: null, boots: 0 });
    await folders.choose(to);
    await memory.save({ stage: 'confirming' });
    log.info({}, `restarting the agent with version ${plainVersion(to)}`);
    await unit.restart();
  };

  /** Watches the new version until it is confirmed or rolled back. */
  const confirm = async (): Promise<void> => {
    let gate = openGate(clock.now());
    for (;;) {
      await pause(times.lookMs);
      const order = await orders.order();
      if (order?.do === 'rollback') {
        await orders.took(order.id);
        return rollBack('an operator ordered it');
      }
      const { before, from, to } = memory.record;
      const next = judge(gate, before, await unit.look(), clock.now(), times);
      gate = next.gate;
      if (next.judgement.kind === 'wait') continue;
      if (next.judgement.kind === 'roll_back') return rollBack(next.judgement.reason);
      if ((await folders.current()) !== to) return rollBack('its files or the link were changed');
      log.info({}, `version ${plainVersion(to ?? '')} works and stays`);
      return memory.settle({ stage: 'done', previous: from, reason: null });
    }
  };

  const rollBack = async (reason: string): Promise<void> => {
    const { from, to } = memory.record;
    const isThere = from !== null && (await folders.find(from)) !== null;
    await returnTo(
      isThere ? from : own.version,
      `version ${plainVersion(to ?? '')} was rolled back: ${reason}`,
    );
  };

  const returnTo = async (version: string, reason: string): Promise<void> => {
    await memory.settle({ stage: 'rolling_back', reason });
    try {
      await folders.choose(version);
    } catch (error) {
      if (!(error instanceof UpdateTrouble)) throw error;
      // The installed package is used until the next boot, where the watch begins anew.
      log.error({}, `the link cannot be changed, so the installed package is used: ${error.message}`);
      await orders.avoidLink();
    }
    await unit.restart();
    log.warn({}, `${reason}; the agent runs version ${plainVersion(version)}`);
    await memory.settle({ stage: 'rolled_back' });
  };

  const fail = async (error: unknown): Promise<void> => {
    if (error instanceof Superseded) return;
    if (!(error instanceof UpdateTrouble)) throw error;
    const { stage } = memory.record;
    if (stage === 'switching' || stage === 'confirming') return rollBack(error.message);
    log.error({}, `the update failed: ${error.message}`);
    await memory.settle({ stage: 'failed', reason: error.message });
  };

  const proceed = async (order: VersionOrder): Promise<void> => {
    try {
      if (packageVersion(order.version) !== own.version) await obtainPatiently(order);
      await awaitMoment(order);
      await switchOver();
      await confirm();
    } catch (error) {
      await fail(error);
    }
  };

  /** Continues after the machine or this program was restarted while a new version was watched. */
  const watchOn = async (): Promise<void> => {
    const { to, boots } = memory.record;
    try {
      if ((await folders.current()) !== to) return await rollBack('its files are damaged');
      const reason = `the machine has restarted, so the watch of version ${plainVersion(to ?? '')} starts over`;
      await memory.settle({ stage: 'confirming', boots: boots + 1, reason });
      if (boots + 1 >= MOST_BOOTS) return await rollBack(`the machine restarted ${boots + 1} times with it`);
      await confirm();
    } catch (error) {
      await fail(error);
    }
  };

  const update = async (order: VersionOrder): Promise<void> => {
    const [from, to] = [await folders.current(), packageVersion(order.version)];
    log.info({}, `version ${plainVersion(to)} was ordered`);
    const start = { order, from, to, reason: null, before: null, boots: 0 };
    const end = async (stage: 'done' | 'failed', reason: string | null): Promise<void> => {
      await memory.settle({ ...start, stage, reason });
      await orders.took(order.id);
    };
    if (to === from) return end('done', null);
    if (compareVersions(to, own.version) < 0) {
      const reason = `the installed package ${plainVersion(own.version)} is newer and takes precedence; install ${plainVersion(to)} with apt`;
      return end('failed', reason);
    }
    try {
      await memory.save({ ...start, stage: 'downloading' });
    } catch (error) {
      if (!(error instanceof UpdateTrouble)) throw error;
      log.error({}, `the update failed: ${error.message}`);
      return end('failed', error.message);
    }
    await orders.took(order.id);
    await proceed(order);
  };

  const rollBackByOrder = async (order: UpdateOrder): Promise<void> => {
    const { stage, previous } = memory.record;
    await orders.took(order.id);
    if (stage === 'downloading' || stage === 'verifying' || stage === 'ready')
      return memory.settle({ stage: 'failed', reason: 'an operator cancelled it before the switch' });
    if (previous === null || compareVersions(previous, own.version) < 0 || !(await folders.find(previous)))
      return log.warn({}, 'an ordered roll-back is not possible: there is no earlier version');
    const running = await folders.current();
    await memory.settle({ order, previous: null, from: previous, to: running });
    await returnTo(previous, `version ${plainVersion(running)} was rolled back: an operator ordered it`);
  };

  return {
    async carryOn() {
      const { stage, order, from, to, reason } = memory.record;
      // After a power cut the removed order may exist again, and would count as a newer order that ends this one.
      if (order !== null) await orders.took(order.id);
      if (stage === 'rolling_back')
        return returnTo(from ?? own.version, reason ?? 'a roll-back was interrupted');
      const isSwitched = stage === 'switching' && (await folders.current()) === to;
      if (stage === 'confirming' || isSwitched) return watchOn();
      const isUnderWay = ['downloading', 'verifying', 'ready', 'switching'].includes(stage);
      if (!isUnderWay || order?.do !== 'update') return;
      log.info({}, `the machine has restarted: the update to version ${plainVersion(to ?? '')} continues`);
      await proceed(order);
    },
    async obey(order) {
      // This order could not be removed before: the disk was full or read-only.
      if (order.id === memory.record.order?.id) return orders.took(order.id);
      if (order.do === 'rollback') return rollBackByOrder(order);
      await update(order);
    },
  };
}
