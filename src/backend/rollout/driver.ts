/** Drives the current roll-out, if there is one, unless another backend does. */
import type { Signer } from '../../adapters/signing/signer.ts';
import type { Complain } from '../../machine/limited-warnings.ts';
import type { OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RolloutKey, RolloutStore } from '../../ports/rollout-store.ts';
import type { Store } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { commandText } from '../jobs/command-message.ts';
import { type FleetListener, isMeant, openFleetListener } from './fleet-listener.ts';
import { type Rollout, readRollout } from './rollout.ts';
import { isNews, type Order, type Seen, type Step, step } from './step.ts';

const STEP_MS = 5000;
/** Steps (count) after which another backend takes over from a crashed one. */
const LEASE_STEPS = 4;
/** Time without a broker connection (ms) after which another backend may take over. */
const LONGEST_DOWN_MS = 60_000;
/** Interval of saves while only sums have changed (ms). */
const SUMS_KEPT_EACH_MS = 60_000;
/** How long devices that are still updating are followed after the end of the roll-out (ms). They wait up to a day for a pause. */
const FOLLOWED_MS = 48 * 3_600_000;
/** Interval of reads of the ledger (ms). */
const LEDGER_EACH_MS = 60_000;
/** Maximum time by which the store's clock may be ahead of this one (ms). */
const CLOCKS_DIFFER_MS = 3_600_000;

export interface RolloutDriverParts {
  readonly config: Pick<BackendConfig, 'allow' | 'groups'>;
  readonly prefix: string;
  readonly store: RolloutStore;
  readonly ledger: Pick<Store, 'sums'>;
  readonly openBus: OpenBus;
  readonly signer: Signer | null;
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
  readonly stepMs?: number;
}

interface Held {
  readonly key: RolloutKey;
  readonly rollout: Rollout;
  readonly savedAt: number;
}

/** Stream time of each device since the beginning of a wave. */
interface Billed {
  readonly since: number;
  readonly readAt: number;
  readonly ms: ReadonlyMap<string, number>;
}

export interface RolloutDriver {
  close(): Promise<void>;
}

export function startRolloutDriver(parts: RolloutDriverParts): RolloutDriver {
  const { config, prefix, store, ledger, signer, instance, clock, log, complain, stepMs = STEP_MS } = parts;
  let listener: FleetListener | null = null;
  let held: Held | null = null;
  let billed: Billed | null = null;
  let isClosed = false;
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();

  const isForNow = (device: string): boolean => isMeant(config, device, held?.rollout.plan.group ?? null);
  const hush = async (): Promise<void> => {
    const last = listener;
    listener = null;
    await last?.close();
  };
  const letGo = (): Promise<void> => {
    held = null;
    return hush();
  };
  const read = async (key: RolloutKey): Promise<Held | null> => {
    const row = await store.current();
    if (row === null || row.id !== key.id) return null;
    const rollout = readRollout(row.body);
    if (rollout === null) complain('rollout', {}, 'the roll-out in the store cannot be read: start it again');
    return rollout === null ? null : { key: row, rollout, savedAt: clock.now() };
  };

  const send = async ({ device, id, args, notAfter }: Order): Promise<void> => {
    const base = `${prefix}/${device}`;
    const wall = clock.wall();
    const text = await commandText({ id, command: 'update', args, notAfter }, base, signer, wall);
    const from = listener;
    from?.publish(`${base}/cmd/update`, text, {
      qos: 1,
      properties: { expiryS: Math.max(1, Math.ceil((notAfter - (wall ?? notAfter)) / 1000)) },
      ended(isDelivered) {
        if (isDelivered) return;
        const message = 'the broker did not accept the order: the backend may lack rights there';
        from.failed({ device, id, status: 'error', code: 'not_sent', message });
        complain('rollout order', { device }, message);
      },
    });
  };

  /** Makes one step, and repeats it on the stored roll-out if that has changed meanwhile. Null: it was replaced or cannot be read. */
  const advance = async (
    before: Held,
    seen: Seen,
    now: number,
  ): Promise<{ held: Held; done: Step } | null> => {
    for (let base: Held | null = before; base !== null; base = await read(base.key)) {
      const done = step(base.rollout, seen, now);
      const changed = done.orders.length > 0 || isNews(base.rollout, done.rollout);
      if (!changed && clock.now() - base.savedAt < SUMS_KEPT_EACH_MS)
        return { held: { ...base, rollout: done.rollout }, done };
      const revision = await store.save(base.key, JSON.stringify(done.rollout));
      if (revision === null) continue;
      tell(base.rollout, done.rollout);
      const key = { id: base.key.id, revision };
      return { held: { key, rollout: done.rollout, savedAt: clock.now() }, done };
    }
    return null;
  };
  const tell = (before: Rollout, after: Rollout): void => {
    const { state, reason, plan, wave } = after;
    const fields = { version: plan.version, wave: wave + 1, waves: plan.waves.length };
    if (state !== before.state && state === 'stopped')
      log.warn(
        { ...fields, why: reason },
        'the roll-out stopped automatically: no more devices get the version',
      );
    else if (reason !== null && reason !== before.reason)
      log.warn(
        { ...fields, why: reason },
        'the roll-out paused because of one device: check the device, then "rollout resume" or "rollout abort"',
      );
    else if (state !== before.state) log.info({ ...fields, state }, 'the state of the roll-out has changed');
    else if (wave !== before.wave) log.info(fields, 'the roll-out begins its next wave');
  };

  /** Reads the ledger only if there are conversations to verify. */
  const billedSince = async ({ waveSince, heard }: Rollout, wall: number): Promise<Seen['billedMs']> => {
    if (waveSince === null || Object.keys(heard).length === 0) return new Map();
    const isFresh = billed?.since === waveSince && clock.now() - billed.readAt < LEDGER_EACH_MS;
    if (billed === null || !isFresh) {
      const sums = await ledger.sums(waveSince, wall + CLOCKS_DIFFER_MS);
      const ms = new Map(sums.map((sum) => [sum.device, sum.ms]));
      billed = { since: waveSince, readAt: clock.now(), ms };
    }
    return billed.ms;
  };

  const look = async (): Promise<void> => {
    if (listener !== null && listener.downForMs > LONGEST_DOWN_MS) return;
    const key = await store.drive(instance, LEASE_STEPS * stepMs);
    if (key === null) return letGo();
    if (held?.key.id !== key.id || held.key.revision !== key.revision) held = await read(key);
    const now = clock.wall();
    if (held === null || now === null || !isFollowed(held.rollout, now)) return hush();
    listener ??= openFleetListener({
      openBus: parts.openBus,
      prefix,
      clock,
      log,
      complain,
      isMeant: isForNow,
    });
    if (!listener.isSettled) return;
    const billedMs = await billedSince(held.rollout, now);
    const heard = listener.look();
    const next = await advance(held, { ...heard, billedMs }, now);
    if (next === null) return letGo();
    held = next.held;
    listener.took(heard);
    for (const order of next.done.orders) await send(order);
  };
  const again = (): void => {
    cancel = clock.at(clock.now() + stepMs, () => {
      running = look()
        .catch((error: unknown) => {
          const why = error instanceof Error ? error.message : 'unknown reason';
          complain('rollout step', { why }, 'the roll-out cannot go on now');
        })
        .finally(() => {
          if (!isClosed) again();
        });
    });
  };
  again();

  return {
    async close() {
      isClosed = true;
      cancel();
      await running;
      await letGo();
      await store.leave(instance).catch(() => {});
      await store.close();
    },
  };
}

const isFollowed = ({ endedAt }: Rollout, now: number): boolean =>
  endedAt === null || now - endedAt < FOLLOWED_MS;
