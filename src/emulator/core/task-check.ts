import * as z from 'zod';
import { isHeardLanguage, isSpokenLanguage } from '../../protocol/common/service-languages.ts';
import type { Task } from '../../protocol/service/task.ts';
import type { Choices } from './choices.ts';

/** A problem of a task: the field, and the rule that it breaks. */
export interface TaskObjection {
  readonly param: string;
  readonly desc: string;
}

/** Maximum number of target languages of one task. */
const MAX_TARGETS = 8;

const level = (min: number) => z.number().min(min).max(600_000);
const tempo = z.number().min(0.5).max(3);

/** The defaults and limits of a live service. */
const queueSchema = z
  .looseObject({
    desired_queue_level_ms: level(2000).default(5000),
    max_queue_level_ms: level(4000).default(20_000),
    auto_tempo: z.boolean().default(true),
    min_tempo: tempo.default(1.15),
    max_tempo: tempo.default(1.45),
  })
  .superRefine((queue, context) => {
    const complain = (key: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [key], message });
    if (queue.max_queue_level_ms <= queue.desired_queue_level_ms)
      complain('max_queue_level_ms', '`max_queue_level_ms` must be greater than `desired_queue_level_ms`');
    if (queue.max_tempo < queue.min_tempo)
      complain('max_tempo', '`max_tempo` must not be less than `min_tempo`');
  });

/** The queue settings of a task, with their defaults; a ZodError if they are wrong. */
export function readQueue(task: Task) {
  return queueSchema.safeParse(task.pipeline.translation_queue_configs?.['global'] ?? {});
}

function objectToLanguages({ pipeline }: Task): TaskObjection | null {
  const { source_language: source, detectable_languages: detectable = [] } = pipeline.transcription;
  const named = (param: string, languages: readonly string[], isKnown: (language: string) => boolean) =>
    languages
      .filter((language) => !isKnown(language))
      .map((language) => ({ param, desc: `unknown language "${language}"` }));
  return (
    [
      ...named('pipeline.transcription.source_language', source === 'auto' ? [] : [source], isHeardLanguage),
      ...named('pipeline.transcription.detectable_languages', detectable, isHeardLanguage),
      ...pipeline.translations.flatMap(({ target_language, allowed_source_languages = [] }, at) => [
        ...named(`pipeline.translations.${at}.target_language`, [target_language], isSpokenLanguage),
        ...named(
          `pipeline.translations.${at}.allowed_source_languages`,
          allowed_source_languages,
          isHeardLanguage,
        ),
      ]),
    ][0] ?? null
  );
}

function objectToQueue(task: Task): TaskObjection | null {
  const issue = readQueue(task).error?.issues[0];
  if (issue === undefined) return null;
  const at = ['pipeline', 'translation_queue_configs', 'global', ...issue.path];
  return { param: at.join('.'), desc: issue.message };
}

function objectToFormats({ input_stream: input, output_stream: output }: Task): TaskObjection | null {
  if (output === null) return { param: 'output_stream', desc: 'must be an object' };
  if (input.source.format !== 'pcm_s16le')
    return { param: 'input_stream.source.format', desc: 'must be pcm_s16le' };
  return output.target.format === 'pcm_s16le'
    ? null
    : { param: 'output_stream.target.format', desc: 'must be pcm_s16le' };
}

/** Finds a problem that the schema of a task does not find; null: none. */
export function objectToTask(task: Task, choices: Choices): TaskObjection | null {
  if (task.pipeline.translations.length > MAX_TARGETS) {
    return { param: 'pipeline.translations', desc: `at most ${MAX_TARGETS} target languages` };
  }
  return (
    (choices.moreFormats ? null : objectToFormats(task)) ??
    (choices.languages === 'known' ? objectToLanguages(task) : null) ??
    (choices.queueLimits ? objectToQueue(task) : null)
  );
}
