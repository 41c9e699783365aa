import { useSignal } from '@preact/signals';
import type { Person } from '../../protocol/console-owner.ts';
import { CONSOLE_ROLES } from '../../protocol/console-routes.ts';
import { me, post, whyFailed } from './client/api.ts';
import { Choice } from './parts/choice.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Fault, Shown, useFetched } from './parts/fetched.tsx';
import { NewPassword } from './parts/new-password.tsx';
import { Table } from './parts/table.tsx';
import { Name, Sheet, Time } from './parts/words.tsx';
import { maybeText, t } from './texts/text.ts';

/** The people and their roles. */
export function People() {
  const all = useFetched<{ people: readonly Person[] }>('/api/people');
  const fault = useSignal<string | null>(null);
  const leaving = useSignal<string | null>(null);
  const locked = useSignal<string | null>(null);
  /** A role change to confirm: arrow keys can change even a closed list by accident. */
  const changing = useSignal<{ readonly name: string; readonly role: string } | null>(null);
  const act = async (path: string, body: object): Promise<void> => {
    fault.value = null;
    try {
      await post(path, body);
    } catch (error) {
      fault.value = whyFailed(error);
    }
    all.again();
  };
  const pathOf = (name: string): string => `/api/people/${encodeURIComponent(name)}`;
  return (
    <main id="main" class="column" tabIndex={-1}>
      <h1>{t('people')}</h1>
      <dl class="sheet">
        {CONSOLE_ROLES.map((role) => (
          <>
            <dt>{t(`role_${role}`)}</dt>
            <dd>{t(`may_${role}`)}</dd>
          </>
        ))}
      </dl>
      <Fault text={fault.value} />
      <Shown of={all}>
        {({ people }) => (
          <Table
            label={t('people')}
            heads={[t('person'), t('role'), t('last_seen'), { text: t('action'), kind: 'optional' }]}
          >
            {people.map(({ name, role, lastSeenAt, lockedUntil }) => (
              <tr key={name}>
                <td>
                  <Name text={name} /> {name === me.value?.name && <span class="quiet">({t('you')})</span>}
                </td>
                <td>
                  <Choice
                    label={t('change_role', { name })}
                    options={CONSOLE_ROLES}
                    value={role}
                    textOf={(key) => t(`role_${key}`)}
                    onChange={(next) => {
                      changing.value = { name, role: next };
                    }}
                  />
                </td>
                <td>
                  {lastSeenAt === null ? t('never') : <Time at={lastSeenAt} />}
                  {lockedUntil !== null && (
                    <p class="quiet">
                      {t('locked_until')} <Time at={lockedUntil} />
                    </p>
                  )}
                </td>
                <td>
                  <div class="row">
                    {lockedUntil !== null && (
                      <button type="button" onClick={() => void act(`${pathOf(name)}/unlock`, {})}>
                        {t('unlock')} <span class="unseen">{name}</span>
                      </button>
                    )}
                    <button
                      type="button"
                      onClick={() => {
                        locked.value = name;
                      }}
                    >
                      {t('set_password')} <span class="unseen">{name}</span>
                    </button>
                    <button
                      type="button"
                      class="danger"
                      onClick={() => {
                        leaving.value = name;
                      }}
                    >
                      {t('remove_person')} <span class="unseen">{name}</span>
                    </button>
                  </div>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Shown>
      <NewPersonForm onAdded={all.again} />
      {locked.value !== null && (
        <Dialog
          title={`${t('set_password')}: ${locked.value}`}
          onClose={() => {
            locked.value = null;
          }}
        >
          <form
            class="column"
            onSubmit={(event) => {
              event.preventDefault();
              const name = locked.value ?? '';
              const password = new FormData(event.currentTarget as HTMLFormElement).get('password');
              locked.value = null;
              void act(pathOf(name), { password });
            }}
          >
            <input name="name" autocomplete="username" value={locked.value} readOnly hidden />
            <p>{t('sessions_end')}</p>
            <NewPassword id="set-password" />
            <div class="row">
              <button type="submit" class="first">
                {t('set_password')}
              </button>
            </div>
          </form>
        </Dialog>
      )}
      {changing.value !== null && (
        <Dialog
          title={t('change_role', { name: changing.value.name })}
          onClose={() => {
            changing.value = null;
          }}
        >
          <p>
            {maybeText('role', changing.value.role)}: {maybeText('may', changing.value.role)}.{' '}
            {t('sessions_end')}
          </p>
          <div class="row">
            <button
              type="button"
              class="first"
              onClick={() => {
                const { name = '', role } = changing.value ?? {};
                changing.value = null;
                void act(pathOf(name), { role });
              }}
            >
              {t('save')}
            </button>
          </div>
        </Dialog>
      )}
      {leaving.value !== null && (
        <Dialog
          title={t('remove_person')}
          onClose={() => {
            leaving.value = null;
          }}
        >
          <p>{t('remove_sure', { name: leaving.value })}</p>
          <div class="row">
            <button
              type="button"
              class="danger"
              onClick={() => {
                const name = leaving.value ?? '';
                leaving.value = null;
                void act(`${pathOf(name)}/remove`, {});
              }}
            >
              {t('remove_person')}
            </button>
          </div>
        </Dialog>
      )}
    </main>
  );
}

function NewPersonForm({ onAdded }: { onAdded(): void }) {
  const fault = useSignal<string | null>(null);
  const added = useSignal<string | null>(null);
  const role = useSignal<string>('viewer');
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const values = new FormData(form);
    fault.value = null;
    added.value = null;
    try {
      const name = String(values.get('name'));
      await post('/api/people', { name, role: role.value, password: values.get('password') });
      added.value = name;
      form.reset();
      onAdded();
    } catch (error) {
      fault.value = whyFailed(error);
    }
  };
  return (
    <Sheet title={t('add_person')}>
      <form class="column" onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label for="new-name">{t('user')}</label>
          <input
            id="new-name"
            name="name"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            required
          />
        </div>
        <div class="field">
          <label for="new-role">{t('role')}</label>
          <Choice
            id="new-role"
            options={CONSOLE_ROLES}
            value={role.value}
            textOf={(key) => t(`role_${key}`)}
            onChange={(next) => {
              role.value = next;
            }}
          />
        </div>
        <NewPassword id="new-password" />
        <Fault text={fault.value} />
        {added.value !== null && (
          <p class="good" role="status">
            {t('added', { name: added.value })}
          </p>
        )}
        <div class="row">
          <button type="submit" class="first">
            {t('add_person')}
          </button>
        </div>
      </form>
    </Sheet>
  );
}
