import { z } from 'zod';

/** A language tag as the service takes it: `en`, `es`, `pt-br`, `zh-Hant` (BCP 47, without extensions). */
export const languageSchema = z
  .string()
  .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a language tag such as "en", "es" or "pt-br"');
