/** Periodic work of the running console. */
import type { ConsoleServer } from '../../adapters/console/console-server.ts';
import type { Complain } from '../../machine/limited-warnings.ts';
import { repeat } from '../../machine/repeat.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import type { Log } from '../../ports/log.ts';
import type { RefusedConfigs } from './refused-configs.ts';

const UPKEEP_EACH_MS = 5000;
const PRUNE_EACH_MS = 3_600_000;

export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export interface UpkeepParts {
  readonly refused: Pick<RefusedConfigs, 'note'>;
  readonly store: Pick<ConsoleStore, 'prune'>;
  readonly server: Pick<ConsoleServer, 'renew'>;
  /** Null: without TLS. */
  readonly readTls: (() => Tls) | null;
  /** The server's certificate and key; null: without TLS. */
  readonly tls: Tls | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
}

/** @returns a function that ends it */
export function startUpkeep(parts: UpkeepParts): () => void {
  const { refused, store, clock, complain } = parts;
  const renewTls = createTlsRenewal(parts);
  let prunedAt = clock.now();
  const upkeep = async (): Promise<void> => {
    await refused.note();
    if (clock.now() - prunedAt < PRUNE_EACH_MS) return;
    prunedAt = clock.now();
    await store.prune().catch((error: unknown) => {
      complain('prune', { why: String(error) }, 'old lines of the console cannot be deleted');
    });
    renewTls();
  };
  return repeat(clock, UPKEEP_EACH_MS, () => void upkeep());
}

/** Reads the certificate again, and gives a new one to the server. */
function createTlsRenewal({ server, readTls, tls, log, complain }: UpkeepParts): () => void {
  let lastCertificate = tls?.cert;
  return () => {
    try {
      const next = readTls?.();
      if (next === undefined || next.cert === lastCertificate) return;
      server.renew(next);
      lastCertificate = next.cert;
      log.info({}, 'the console uses its renewed certificate');
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown reason';
      complain('certificate', { why }, "the console's renewed certificate cannot be used");
    }
  };
}
