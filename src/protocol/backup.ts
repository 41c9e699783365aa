import * as z from 'zod';

/** The list of saved files in a backup of the backend: where each belongs, and the name of its copy. */
export const savedFilesSchema = z.array(
  z.strictObject({ path: z.string().min(1).max(4096), copy: z.string().regex(/^\d{1,4}$/) }),
);
