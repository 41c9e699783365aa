import * as z from 'zod';

const pathSchema = z.string().min(1).max(4096);
/** `user:group`, as `stat` prints it and `chown` reads it; null: unknown. */
const ownerSchema = z
  .string()
  .regex(/^[\w.-]{1,64}:[\w.-]{1,64}$/)
  .nullable();

const savedFileSchema = z.strictObject({
  /** The file's path. */
  path: pathSchema,
  /** Name of its copy in the backup. */
  copy: z.string().regex(/^\d{1,4}$/),
  owner: ownerSchema,
});

/** The list of saved files in a backup of the backend. */
export const backupListSchema = z.strictObject({
  /** Path of the configuration file; null: the configuration came from the environment. */
  config: pathSchema.nullable(),
  /** Owner of the store's file. */
  storeOwner: ownerSchema,
  /** Parent folders of the files and the store; older backups list none. */
  folders: z
    .array(z.strictObject({ path: pathSchema, mode: z.int().min(0).max(0o777), owner: ownerSchema }))
    .default([]),
  files: z.array(savedFileSchema),
});
export type BackupList = z.infer<typeof backupListSchema>;
