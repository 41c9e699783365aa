/** An authorised request, and the parts that its route may read. */
import type * as z from 'zod';
import type { ConsoleOutcome, ConsoleRequest } from '../../adapters/console/console-request.ts';
import { parseJson } from '../../protocol/common/json.ts';
import type { ConsoleFault } from '../../protocol/console-routes.ts';
import { Refusal } from './refusal.ts';
import type { Session } from './sign-in.ts';

export interface PublicCall {
  readonly request: ConsoleRequest;
  /** Parts of the path. */
  readonly params: Readonly<Record<string, string>>;
}
export interface Call extends PublicCall {
  readonly session: Session;
}

/** A value to send as JSON, or an outcome of another kind. */
export type Reply = { readonly json: unknown; readonly cookie?: string } | ConsoleOutcome;

const MOST_BODY_BYTES = 1_048_576;

/** @throws Refusal that names each wrong field */
export async function readBody<T extends z.ZodType>(
  { request }: PublicCall,
  schema: T,
  mostBytes = MOST_BODY_BYTES,
): Promise<z.output<T>> {
  const json = parseJson(await request.body(mostBytes));
  if (json === undefined) throw new Refusal(400, 'invalid', 'the body must be JSON');
  return check(schema, json);
}

/** @throws Refusal that names each wrong field */
export function readQuery<T extends z.ZodType>({ request }: PublicCall, schema: T): z.output<T> {
  return check(schema, Object.fromEntries(request.query));
}

/** Reads a query parameter that contains JSON; left out: an empty object. */
export function readJsonQuery<T extends z.ZodType>(call: PublicCall, name: string, schema: T): z.output<T> {
  const text = call.request.query.get(name);
  const json = text === null ? {} : parseJson(text);
  if (json === undefined) throw new Refusal(400, 'invalid', `${name}: must be JSON`);
  return check(schema, json);
}

export function check<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = faultsOf(parsed.error);
  const [first] = faults;
  const words = first === undefined ? 'is not valid' : sentence(first);
  throw new Refusal(400, 'invalid', words, { faults });
}

const sentence = ({ pointer, message }: ConsoleFault): string =>
  pointer === '' ? message : `${pointer.slice(1).replaceAll('/', '.')}: ${message}`;

const MOST_FAULTS = 50;

export function faultsOf(error: z.ZodError): ConsoleFault[] {
  return error.issues.slice(0, MOST_FAULTS).flatMap(({ path, message, ...issue }) => {
    const pointer = path
      .map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('');
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : null;
    if (keys === null) return [{ pointer, message }];
    return keys.slice(0, MOST_FAULTS).map((key) => ({
      pointer: `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      message: 'is not a known key',
    }));
  });
}
