/** The part `screen` of the configuration. */
import * as z from 'zod';
import { plainTextSchema } from './common/plain-text.ts';
import { leastScreenMm, SCREEN_LAYOUTS } from './screen-size.ts';

const PORT = { min: 1, max: 65_535, default: 8484 } as const;
const VIEWING_DISTANCE_MM = { min: 200, max: 5000, default: 700 } as const;
const HEIGHT_MM = { min: 40, max: 3000, default: 150 } as const;

const LONGEST_OPERATOR = 200;

/** Changeable by `config/desired`, too. */
export const operatorSchema = plainTextSchema
  .max(LONGEST_OPERATOR, `must have at most ${LONGEST_OPERATOR} characters`)
  .describe('Who runs this interpreter, for visitors who ask, in any language; empty: not shown.');

export const screenSchema = z
  .strictObject({
    enabled: z.boolean().default(false).describe('Serve the page with captions and buttons.'),
    port: z
      .int()
      .min(PORT.min)
      .max(PORT.max)
      .default(PORT.default)
      .describe('Port of the page on this machine; other machines cannot reach it.'),
    layout: z
      .enum(SCREEN_LAYOUTS)
      .default('beside')
      .describe(
        'one: the translation alone; beside: both languages side by side; facing: the upper half upside down, for two people at a desk.',
      ),
    viewingDistanceMm: z
      .number()
      .min(VIEWING_DISTANCE_MM.min)
      .max(VIEWING_DISTANCE_MM.max)
      .default(VIEWING_DISTANCE_MM.default)
      .describe('Distance from the eyes to the screen, millimetres; letters are large enough for it.'),
    heightMm: z
      .number()
      .min(HEIGHT_MM.min)
      .max(HEIGHT_MM.max)
      .default(HEIGHT_MM.default)
      .describe('Height of the visible area of the screen, millimetres.'),
    operator: operatorSchema.default(''),
    mask: z.boolean().default(false).describe('Mask profanity in captions; the sound is not changed.'),
  })
  .superRefine(({ layout, viewingDistanceMm, heightMm }, context) => {
    const least = Math.ceil(leastScreenMm(viewingDistanceMm, layout));
    if (heightMm >= least) return;
    const message = `must be ${least} or more: letters that are readable at ${viewingDistanceMm} mm do not fit on it in the layout "${layout}"; correct viewingDistanceMm, choose another layout, or use a larger screen`;
    context.addIssue({ code: 'custom', path: ['heightMm'], message });
  })
  .prefault({})
  .describe('The page for a screen at the kiosk.');

export type ScreenConfig = z.infer<typeof screenSchema>;
