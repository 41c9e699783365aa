export type ConfigVerb = 'get' | 'set' | 'unset' | 'diff';

/** The task of a command line, with all its arguments. */
export type Task =
  | { readonly kind: 'command'; readonly name: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'logs'; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'status' | 'doctor' | 'watch' }
  | { readonly kind: 'config'; readonly verb: ConfigVerb; readonly words: readonly string[] }
  | { readonly kind: 'help' };

export type Values = Readonly<Record<string, unknown>>;

export interface CtlVerb {
  readonly says: string;
  readonly usage?: string;
  readonly options?: readonly (readonly [flags: string, says: string])[];
  /** @throws Failure when an argument is invalid */
  task(words: readonly string[], values: Values): Task;
}
