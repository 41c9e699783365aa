import * as z from 'zod';

const LONGEST_VERSION = 96;
const LONGEST_ADDRESS = 1024;
const LONGEST_REASON = 400;

/** A version of a Debian package, without an epoch. It is used as the name of a folder. */
export const versionSchema = z
  .string()
  .max(LONGEST_VERSION)
  .regex(/^\d[A-Za-z0-9.+~]*(-[A-Za-z0-9.+~]+)?$/, 'must be a version such as "1.3.0"');

const MANIFEST =
  /^(https?:\/\/[\w.:[\]-]+\/|file:\/\/\/)([\w.~%@+/-]*\/)?dists\/[a-z][a-z0-9.-]*\/InRelease$/;

/** Address of the signed list of a Debian repository. Only apt fetches it, and trusts only the device's own keys. */
export const manifestUrlSchema = z
  .string()
  .max(LONGEST_ADDRESS)
  .regex(
    MANIFEST,
    'must be the address of the list of a repository, such as "https://releases.example/dists/stable/InRelease"',
  );

const id = z.string().min(1).max(128);

/** An order to the updater, in a file that the agent's user can write. An agent newer than the updater may send more fields. */
export const updateOrderSchema = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('update'),
    id,
    version: versionSchema,
    /** Null: the device's own list of sources. */
    manifest_url: manifestUrlSchema.nullable(),
    /** Null: at the next good moment. */
    not_before: z.iso.datetime({ offset: true }).nullable(),
  }),
  z.object({ do: z.literal('rollback'), id }),
]);
export type UpdateOrder = z.infer<typeof updateOrderSchema>;
export type VersionOrder = Extract<UpdateOrder, { do: 'update' }>;

export const UPDATE_STATES = [
  'idle',
  'downloading',
  'verifying',
  'ready',
  'switching',
  'confirming',
  'done',
  'rolled_back',
  'failed',
] as const;
export type UpdateState = (typeof UPDATE_STATES)[number];

/** The updater's status. */
export const updateReportSchema = z.object({
  state: z.enum(UPDATE_STATES).describe('see [updates.md](updates.md#states)'),
  from: z.string().max(LONGEST_VERSION).nullable().describe('version before the update; null: no update yet'),
  to: z.string().max(LONGEST_VERSION).nullable().describe('ordered version; null: no update yet'),
  reason: z
    .string()
    .max(LONGEST_REASON)
    .nullable()
    .describe('why the update waits, failed or was rolled back, a sentence for people; null: none'),
  progress: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('completed fraction of the current step, 0 to 1; null: unknown'),
});
export type UpdateReport = z.infer<typeof updateReportSchema>;

/** The file with the report, in memory, for every program on the device. */
export const updateStatusSchema = updateReportSchema.extend({
  /** Id of the order that the report is about; null: none yet. */
  order: id.nullable(),
  /** Whether it waits for the agent to confirm that a restart interrupts no speech or conversation. */
  asks: z.boolean(),
  /** The version that the agent runs after its next start. */
  current: z.string().max(LONGEST_VERSION),
  /** The version of the installed package. */
  installed: z.string().max(LONGEST_VERSION),
  /** The version that a roll-back returns to; null: none. */
  previous: z.string().max(LONGEST_VERSION).nullable(),
});
export type UpdateStatus = z.infer<typeof updateStatusSchema>;

/** The parts of the agent's health that an update may change. */
export const agentHealthSchema = z.object({
  /** Whether systemd reports the agent as ready. */
  active: z.boolean(),
  /** Bytes that the agent reads per second according to the kernel, most of them sound; null: not measured. */
  readsPerS: z.number().nullable(),
  /** Whether the agent can use its configuration. */
  usable: z.boolean(),
  broker: z.boolean(),
  backend: z.boolean(),
  /** Details of the reasons `capture`, by lane. */
  deaf: z.array(z.string()),
});
export type AgentHealth = z.infer<typeof agentHealthSchema>;

/**
 * The updater's state, which survives a power cut. `rolling_back` and `switching` last only seconds. A newer updater may have
 * written it: unknown values fall back to defaults, and a roll-back stays possible.
 */
export const updateRecordSchema = z.object({
  format: z.literal(1).catch(1),
  stage: z.enum([...UPDATE_STATES, 'rolling_back']).catch('idle'),
  order: updateOrderSchema.nullable().catch(null),
  from: versionSchema.nullable().catch(null),
  to: versionSchema.nullable().catch(null),
  reason: z.string().nullable().catch(null),
  previous: versionSchema.nullable().catch(null),
  before: agentHealthSchema.nullable().catch(null),
  /** Boots of the machine since the switch to the new version. */
  boots: z.int().catch(0),
});
export type UpdateRecord = z.infer<typeof updateRecordSchema>;

/** `release.json` in the agent's package. */
export const releaseSchema = z.object({
  version: versionSchema,
  /** Seconds since 1970. A correct clock shows a later time. */
  built_at: z.int(),
  node: z.object({
    /** The oldest Node.js that runs this release. */
    least: z.string().regex(/^\d+\.\d+(\.\d+)?$/),
    /** The version of the package dragoman-node that this release needs. */
    private: versionSchema,
  }),
});
export type Release = z.infer<typeof releaseSchema>;
