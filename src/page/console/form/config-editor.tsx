import { useSignal } from '@preact/signals';
import type { ConfigAnswer, ConfigChange, DesiredDocument } from '../../../protocol/console-config.ts';
import type { JsonSchema, Registry } from '../../../protocol/console-jobs.ts';
import type { ConsoleFault } from '../../../protocol/console-routes.ts';
import { ConsoleError, post, whyFailed } from '../client/api.ts';
import { Fault, Shown, useFetched } from '../parts/fetched.tsx';
import { cleaned } from '../texts/cleaned.ts';
import { t } from '../texts/text.ts';
import { Help } from './field.ts';
import { differencesOf, isObject, type Json, keyOf, pruned, shownValue } from './schema.ts';
import { Fields } from './schema-form.tsx';

export interface ConfigEditorProps {
  readonly target: ConfigChange['target'];
  readonly desired: DesiredDocument | null;
  /** Lanes to choose from. */
  readonly lanes: readonly string[];
  onApplied(): void;
}

/** The desired configuration as a form generated from its schema. A change is shown before it is sent. */
export function ConfigEditor(props: ConfigEditorProps) {
  const registry = useFetched<Registry>('/api/registry');
  return <Shown of={registry}>{({ desired }) => <Editor {...props} schema={desired} />}</Shown>;
}

function Editor({
  target,
  desired,
  lanes,
  onApplied,
  schema,
}: ConfigEditorProps & { readonly schema: JsonSchema }) {
  const { version = 0, ...before } = desired ?? {};
  const draft = useSignal<Json>(before);
  const fault = useSignal<string | null>(null);
  const faults = useSignal<readonly ConsoleFault[]>([]);
  const answer = useSignal<ConfigAnswer | null>(null);
  const next = pruned(draft.value);
  const differences = differencesOf(before, next);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    fault.value = null;
    faults.value = [];
    try {
      const document = isObject(next) ? next : null;
      const body: ConfigChange = { target, basedOn: Number(version), document };
      answer.value = await post<ConfigAnswer>('/api/config', body);
      onApplied();
    } catch (error) {
      fault.value = whyFailed(error);
      if (error instanceof ConsoleError) faults.value = error.faults.map(belowDocument);
    }
  };
  return (
    <form class="column" onSubmit={(event) => void send(event)}>
      <p class="hint">{t('leave')}</p>
      <Help.Provider value={{ faults: faults.value, suggestions: lanes.length > 0 ? { id: lanes } : {} }}>
        <Fields
          schema={schema}
          value={draft.value}
          onChange={(value) => {
            draft.value = value;
            answer.value = null;
          }}
        />
      </Help.Provider>
      <h3>{t('changes')}</h3>
      {differences.length === 0 ? (
        <p class="quiet">{t('no_changes')}</p>
      ) : (
        <dl class="diff">
          {differences.map(({ pointer, before: old, after }) => (
            <>
              <dt>
                <code>{cleaned(keyOf(pointer))}</code>
              </dt>
              <dd>
                {old !== undefined && <del>{cleaned(shownValue(old))}</del>}{' '}
                {after !== undefined && <ins>{cleaned(shownValue(after))}</ins>}
              </dd>
            </>
          ))}
        </dl>
      )}
      <Fault text={fault.value} />
      {answer.value !== null && (
        <div role="status">
          <p class="good">{t('applied')}</p>
          {answer.value.warnings.map((warning) => (
            <p key={warning} class="warn">
              {warning}
            </p>
          ))}
        </div>
      )}
      <div class="row">
        <button type="submit" class="first" disabled={differences.length === 0}>
          {t('apply')}
        </button>
        <button
          type="button"
          disabled={differences.length === 0}
          onClick={() => {
            draft.value = before;
          }}
        >
          {t('cancel')}
        </button>
      </div>
    </form>
  );
}

const belowDocument = ({ pointer, message }: ConsoleFault): ConsoleFault => ({
  pointer: pointer.replace(/^\/document(?=\/|$)/, ''),
  message,
});
