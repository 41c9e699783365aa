import { compareVersions, plainVersion } from '../core/update/package-versions.ts';
import type { Log } from '../ports/log.ts';
import { type OrderFiles, type UpdateFiles, UpdateTrouble } from '../ports/update.ts';
import { type UpdateRecord, type UpdateState, updateRecordSchema } from '../protocol/common/update.ts';
import type { VersionFolders } from './version-folders.ts';

const FILE = 'record.json';
const DRAFT = 'record.json.draft';

const NOTHING: UpdateRecord = {
  format: 1,
  stage: 'idle',
  order: null,
  from: null,
  to: null,
  reason: null,
  previous: null,
  before: null,
  boots: 0,
};

/** The updater's record on the disk, and its status in memory. */
export interface Memory {
  readonly record: UpdateRecord;
  /** Saves a change, which survives a power cut once this resolves. @throws UpdateTrouble */
  save(change: Partial<UpdateRecord>): Promise<void>;
  /** Like `save`, but tolerates a disk that cannot be written: the status is correct, and the next boot tries again. */
  settle(change: Partial<UpdateRecord>): Promise<void>;
  /** Reports without saving. @param asks whether the agent shall say when a restart interrupts no speech or conversation */
  tell(reason: string | null, progress?: number | null, asks?: boolean): Promise<void>;
}

export async function openMemory(
  files: UpdateFiles,
  orders: OrderFiles,
  folders: VersionFolders,
  log: Log,
): Promise<Memory> {
  let record = readRecord(await files.read(FILE), log);

  const publish = async (progress: number | null, asks = false): Promise<void> => {
    const { stage, order, from, to, reason, previous } = record;
    const { installed } = folders;
    // The installed package wins over an older version.
    const mayReturn = previous !== null && compareVersions(previous, installed) >= 0;
    const plain = (version: string | null): string | null =>
      version === null ? null : plainVersion(version);
    await orders.publish({
      state: published(stage),
      from: plain(from),
      to: plain(to),
      reason,
      progress,
      order: order?.id ?? null,
      asks,
      current: plainVersion(await folders.current()),
      installed: plainVersion(installed),
      previous: mayReturn ? plain(previous) : null,
    });
  };
  const change = (part: Partial<UpdateRecord>): void => {
    record = { ...record, ...part };
  };
  const write = async (): Promise<void> => {
    await files.write(DRAFT, JSON.stringify(record));
    await files.sync(DRAFT);
    await files.rename(DRAFT, FILE);
    await files.sync('');
  };

  await publish(null);
  return {
    get record() {
      return record;
    },
    async save(part) {
      change(part);
      await write();
      await publish(null);
    },
    async settle(part) {
      change(part);
      try {
        await write();
      } catch (error) {
        if (!(error instanceof UpdateTrouble)) throw error;
        log.error({}, `cannot save the state of the update: ${error.message}`);
      }
      await publish(null);
    },
    async tell(reason, progress = null, asks = false) {
      change({ reason });
      await publish(progress, asks);
    },
  };
}

const published = (stage: UpdateRecord['stage']): UpdateState =>
  stage === 'rolling_back' ? 'switching' : stage;

function readRecord(text: string | null, log: Log): UpdateRecord {
  if (text === null) return NOTHING;
  try {
    return updateRecordSchema.parse(JSON.parse(text));
  } catch {
    log.warn({}, `${FILE} is damaged; the updater begins a new one`);
    return NOTHING;
  }
}
