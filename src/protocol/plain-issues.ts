import * as z from 'zod';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  bigint: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  set: 'a list',
  object: 'an object',
  record: 'an object',
  map: 'an object',
  date: 'a date',
  null: 'null',
};
/** Unit of the size of a value of this kind. */
const UNITS: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'entries',
  set: 'entries',
  map: 'entries',
  file: 'bytes',
};

type RawIssue = z.core.$ZodRawIssue | z.core.$ZodIssue;

function quoted(values: readonly unknown[]): string {
  const names = values.map((value) => JSON.stringify(value) ?? String(value));
  return names.length === 1 ? String(names[0]) : `one of ${names.join(', ')}`;
}

function bound(word: 'at least' | 'at most', limit: unknown, origin: string, inclusive: boolean): string {
  const unit = UNITS[origin];
  if (unit !== undefined) return `must have ${word} ${limit} ${unit}`;
  if (inclusive) return `must be ${word} ${limit}`;
  return `must be ${word === 'at least' ? 'more' : 'less'} than ${limit}`;
}

/**
 * Describes a problem of a value. The text completes a sentence that starts with the value's name: `must be a number`.
 * It replaces the messages of the schema library, which are for developers.
 */
export function plainIssue(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if ('input' in issue && issue.input === undefined) return 'is missing';
      return `must be ${TYPES[String(issue.expected)] ?? 'of another kind'}`;
    case 'too_small':
      return bound('at least', issue.minimum, String(issue.origin), issue.inclusive !== false);
    case 'too_big':
      return bound('at most', issue.maximum, String(issue.origin), issue.inclusive !== false);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_value':
      if ('input' in issue && issue.input === undefined) return 'is missing';
      return `must be ${quoted(issue.values as unknown[])}`;
    case 'unrecognized_keys': {
      const keys = issue.keys as string[];
      return `must not have ${keys.map((key) => JSON.stringify(key)).join(', ')}, which is not known here`;
    }
    case 'invalid_format':
      return `must have the right form${issue.format === 'regex' ? '' : ` (${String(issue.format)})`}`;
    case 'invalid_union':
      return 'must have one of the allowed forms';
    case 'invalid_key':
      return 'must not have a name of this form in it';
    case 'invalid_element':
      return 'must have only entries of the right form';
    default:
      return 'must be another value';
  }
}

/** Completes a sentence that begins with the key. */
export function wordIssue(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'must have a value';
  const inner = issue.path.length === 0 ? '' : `[${issue.path.join('.')}] `;
  switch (issue.code) {
    case 'invalid_type':
      return `${inner}must be ${article(issue.expected)}`;
    case 'invalid_value':
      return `${inner}must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
    case 'too_big':
      return inner + plainIssue(issue);
    default:
      return inner + issue.message;
  }
}

function article(type: string): string {
  const names: Readonly<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    array: 'a list',
    boolean: 'true or false',
    object: 'an object',
  };
  return names[type] ?? `of the type ${type}`;
}

/** Installs these messages for every schema without a message of its own. */
export function speakPlainly(): void {
  z.config({ customError: (issue) => plainIssue(issue) });
}
