import { useSignal } from '@preact/signals';
import type { Selection } from '../../../protocol/console-fleet.ts';
import type { CommandForm, JobAnswer, Registry } from '../../../protocol/console-jobs.ts';
import { type ConsoleFault, includesRole } from '../../../protocol/console-routes.ts';
import { ConsoleError, me, post, whyFailed } from '../client/api.ts';
import { Fault, Shown, useFetched } from '../parts/fetched.tsx';
import { Marked } from '../parts/words.tsx';
import { t } from '../texts/text.ts';
import { Help } from './field.ts';
import { isObject, type Json, pruned } from './schema.ts';
import { Fields } from './schema-form.tsx';

export interface CommandsProps {
  readonly to: Selection;
  readonly count: number;
  /** Lanes to choose from; empty: not known. */
  readonly lanes: readonly string[];
  onSent(answer: JobAnswer): void;
}

/** A command of the registry, a form for its arguments, and its recipients. */
export function Commands(props: CommandsProps) {
  const registry = useFetched<Registry>('/api/registry');
  return <Shown of={registry}>{({ commands }) => <Chooser {...props} commands={commands} />}</Shown>;
}

function Chooser({ commands, ...props }: CommandsProps & { readonly commands: readonly CommandForm[] }) {
  const chosen = useSignal('');
  const command = commands.find(({ name }) => name === chosen.value);
  return (
    <div class="column">
      <div class="field">
        <label for="command">{t('command')}</label>
        <select
          id="command"
          value={chosen.value}
          onChange={({ currentTarget }) => {
            chosen.value = currentTarget.value;
          }}
        >
          <option value="">{t('choose_command')}</option>
          {commands.map(({ name, says, role }) => (
            <option key={name} value={name} disabled={!may(role)}>
              {`${name}: ${shortened(says.replaceAll('`', ''))}`}
              {!may(role) && ` (${t('needs_role', { role: t(`role_${role}`) })})`}
            </option>
          ))}
        </select>
      </div>
      {command && <ArgsForm key={command.name} {...props} command={command} />}
    </div>
  );
}

const may = (role: CommandForm['role']): boolean => (me.value ? includesRole(me.value.role, role) : false);

function ArgsForm({ command, to, count, lanes, onSent }: CommandsProps & { readonly command: CommandForm }) {
  const args = useSignal<Json>({});
  const fault = useSignal<string | null>(null);
  const faults = useSignal<readonly ConsoleFault[]>([]);
  const isBusy = useSignal(false);
  const isSure = useSignal(count === 1);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!isSure.value) {
      isSure.value = true;
      return;
    }
    isBusy.value = true;
    fault.value = null;
    faults.value = [];
    try {
      const json = pruned(args.value);
      const body = { command: command.name, args: isObject(json) ? json : {}, to };
      onSent(await post<JobAnswer>('/api/commands', body));
    } catch (error) {
      fault.value = whyFailed(error);
      if (error instanceof ConsoleError) faults.value = error.faults.map(belowArgs);
    }
    isBusy.value = false;
    isSure.value = count === 1;
  };
  return (
    <form class="column" onSubmit={(event) => void send(event)}>
      <p>
        <Marked text={command.says} />
      </p>
      {command.note !== null && (
        <p class="hint">
          <Marked text={command.note} />
        </p>
      )}
      <Help.Provider value={{ faults: faults.value, suggestions: lanes.length > 0 ? { lane: lanes } : {} }}>
        <Fields
          schema={command.args}
          value={args.value}
          onChange={(next) => {
            args.value = next;
          }}
        />
      </Help.Provider>
      <Fault text={fault.value} />
      {count > 1 && isSure.value && (
        <p class="warn" role="alert">
          {t('sure', { n: count })}
        </p>
      )}
      <div class="row">
        <button type="submit" class="first" disabled={isBusy.value}>
          {t('send_to', { n: count })}
        </button>
      </div>
    </form>
  );
}

const LONGEST_SHOWN = 80;
/** Truncates between words, with an ellipsis. */
export const shortened = (text: string): string =>
  text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN).replace(/\W+\w*$/, '')} …`;

const belowArgs = ({ pointer, message }: ConsoleFault): ConsoleFault => ({
  pointer: pointer.replace(/^\/args(?=\/|$)/, ''),
  message,
});
