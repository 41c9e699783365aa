import { useSignal } from '@preact/signals';
import type { Me } from '../../protocol/console-owner.ts';
import { me, post, whyFailed } from './client/api.ts';
import { Fault } from './parts/fetched.tsx';
import { Name, Sheet } from './parts/words.tsx';
import { t } from './texts/text.ts';
import { LanguageChoice } from './top.tsx';

/** The viewer's own password. */
export function MyAccount() {
  const fault = useSignal<string | null>(null);
  const isDone = useSignal(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const values = new FormData(form);
    fault.value = null;
    isDone.value = false;
    try {
      me.value = await post<Me>('/api/me/password', { old: values.get('old'), new: values.get('new') });
      isDone.value = true;
      form.reset();
    } catch (error) {
      fault.value = whyFailed(error);
    }
  };
  return (
    <main id="main" class="column" tabIndex={-1}>
      <h1>
        <Name text={me.value?.name ?? ''} />
      </h1>
      <p>{me.value && `${t(`role_${me.value.role}`)}: ${t(`may_${me.value.role}`)}`}</p>
      <div class="row">
        <LanguageChoice />
      </div>
      <Sheet title={t('change_password')}>
        <form class="column" onSubmit={(event) => void submit(event)}>
          <input name="name" autocomplete="username" value={me.value?.name ?? ''} readOnly hidden />
          <div class="field">
            <label for="old">{t('old_password')}</label>
            <input id="old" name="old" type="password" autocomplete="current-password" required />
          </div>
          <div class="field">
            <label for="new">{t('new_password')}</label>
            <input id="new" name="new" type="password" autocomplete="new-password" minLength={12} required />
          </div>
          <Fault text={fault.value} />
          {isDone.value && (
            <p class="good" role="status">
              {t('password_changed')}
            </p>
          )}
          <div class="row">
            <button type="submit" class="first">
              {t('save')}
            </button>
          </div>
        </form>
      </Sheet>
    </main>
  );
}
