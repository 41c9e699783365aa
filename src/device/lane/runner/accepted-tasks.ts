import * as z from 'zod';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { StateFile } from '../../../ports/state-file.ts';
import { languageClash, languageSchema, targetsSchema } from '../../../protocol/common/language.ts';
import { createBatchedWriter } from '../../state-files/batched-writer.ts';
import { readKept } from '../../state-files/kept-state.ts';
import { type Readers, type Reading, readVersioned } from '../../state-files/versioned-file.ts';
import type { TaskOptions } from '../state/lane-options.ts';
import type { LaneStep } from './lane-runner.ts';

/** Maximum number of lanes of a device. */
const MOST_LANES = 64;
const LONGEST_TEXT = 256;

const laneSchema = z
  .object({
    id: z.string().max(LONGEST_TEXT),
    source: languageSchema,
    targets: targetsSchema,
    voice: z.string().max(LONGEST_TEXT).nullable(),
  })
  .refine(({ source, targets }) => languageClash(source, targets) === null);
const contentSchema = z.object({ lanes: z.array(laneSchema).max(MOST_LANES) });
type Accepted = z.infer<typeof laneSchema>;

/** Version of the files that this program writes. */
export const TASKS_FILE_VERSION = 1;
const READERS: Readers<readonly Accepted[]> = {
  1: (json) => contentSchema.safeParse(json).data?.lanes ?? null,
};

export function writeTasks(lanes: readonly Accepted[]): string {
  return JSON.stringify({ version: TASKS_FILE_VERSION, lanes });
}

export function readTasks(text: string): Reading<readonly Accepted[]> {
  return readVersioned(text, TASKS_FILE_VERSION, READERS);
}

/** The last task of each lane that the service accepted, kept across restarts. It continues if the service refuses a newer one. */
export interface AcceptedTasks {
  of(lane: string): TaskOptions | null;
  onStep(step: LaneStep): void;
  close(): Promise<void>;
}

/**
 * @param file null: nothing is kept across restarts
 * @param kept called once with a reason when the file cannot be written, and with null once it can be written again
 */
export function createAcceptedTasks(
  file: StateFile | null,
  clock: Clock,
  log: Log,
  kept: (problem: string | null) => void,
): AcceptedTasks {
  const tasks = new Map<string, TaskOptions>();
  const take = (lanes: readonly Accepted[]): void => {
    for (const { id, ...task } of lanes) if (!tasks.has(id)) tasks.set(id, task);
  };
  const before = readKept(
    {
      file,
      log,
      parse: readTasks,
      late: (lanes) => {
        take(lanes);
        writer?.changed();
      },
    },
    'cannot read the languages that the service accepted before; ignoring them',
  );
  take(before ?? []);
  const serialize = (): string =>
    writeTasks([...tasks].map(([id, { targets, ...others }]) => ({ id, ...others, targets: [...targets] })));
  const writer =
    file === null
      ? null
      : createBatchedWriter(file, clock, serialize, (problem) => {
          kept(problem);
          if (problem === null) log.info({}, 'the languages that the service accepted are saved again');
          else log.warn({}, `${problem}; the languages that the service accepted will not survive a restart`);
        });
  return {
    of: (lane) => tasks.get(lane) ?? null,
    onStep({ lane, before, after }) {
      const task = after.acceptedTask;
      if (task === null || task === before.acceptedTask) return;
      tasks.set(lane, task);
      writer?.changed();
    },
    close: () => writer?.flush() ?? Promise.resolve(),
  };
}
