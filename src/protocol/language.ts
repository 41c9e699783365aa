import { z } from 'zod';

/** No tag in use comes near it (BCP 47 section 4.4.1). */
const LONGEST_TAG = 35;

/** A language tag as the service takes it: `en`, `es`, `pt-br`, `zh-Hant` (BCP 47, without extensions). */
export const languageSchema = z
  .string()
  .max(LONGEST_TAG, `must have at most ${LONGEST_TAG} characters`)
  .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a language tag such as "en", "es" or "pt-br"');
